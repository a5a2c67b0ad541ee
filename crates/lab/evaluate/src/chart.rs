//! Charts as SVG: lines with bands or error bars, intervals in rows, stacked bars and columns, and points over sizes.
//!
//! The workspace draws charts with [`Page`] instead of a plotting library. plotters, which drew some of them before, cannot give a shape a
//! `<title>` (shown when it is pointed at), a description for screen readers, a hatched area, or colours that follow the reader's light or
//! dark setting.

mod intervals;
mod lines;
mod page;
mod points;
mod stacked;

pub use intervals::{IntervalPoint, RowPanel, rows_svg};
pub use lines::{Panel, Series, Style, svg};
pub use page::{Anchor, Marker, Page, Paint, STYLE, escaped};
pub use points::{Point, Points, points_svg};
pub use stacked::{ColumnPanel, Columns, Part, Stacked, StackedRow, columns_svg, stacked_svg};

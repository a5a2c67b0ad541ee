//! The test-time-scaling paper: Table 2 ([`Scaling`]), Table 5 ([`Plans`]), and Fig. 3 to 5 ([`curves`]).

mod curves;
mod domains;
mod plans;
mod rate;

pub use curves::{Curve, CurvePoint, curve_files, curves};
pub use domains::{Scaling, ScalingCell, ScalingRow};
pub use plans::{Plans, PlansCell, PlansRow};
pub use rate::{Criterion, Delta, Rate};

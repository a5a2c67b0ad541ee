//! `planforge plugins new KIND NAME`.

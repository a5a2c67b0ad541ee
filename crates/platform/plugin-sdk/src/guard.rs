//! Panics become failures, with message and place.
//!
//! A panic that crosses the library's boundary aborts the process, so both sides run every call that the other makes
//! under [`catch_panic`]. Its hook captures the place of panics inside guarded calls and leaves all others to the hook that
//! was there before.

use planforge_contract::{Failure, FailureClass};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

static HOOK: Once = Once::new();

fn install_hook() {
    HOOK.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            // `try_with`: a thread may panic while its locals are being destroyed.
            if DEPTH.try_with(Cell::get).unwrap_or(0) == 0 {
                previous(info);
                return;
            }
            let place = info.location().map(|l| format!("{}:{}:{}", l.file(), l.line(), l.column()));
            let _ = PLACE.try_with(|cell| *cell.borrow_mut() = place);
        }));
    });
}

/// Runs `f`; a panic inside becomes the failure `plugin.panic` of class `Plugin`.
///
/// # Errors
/// The panic. The caller decides what may still be used, because the state that `f` left behind is unknown.
pub fn catch_panic<T>(f: impl FnOnce() -> T) -> Result<T, Failure> {
    install_hook();
    DEPTH.with(|d| d.set(d.get() + 1));
    let result = catch_unwind(AssertUnwindSafe(f));
    DEPTH.with(|d| d.set(d.get() - 1));
    result.map_err(|payload| {
        let place = PLACE.with(|cell| cell.borrow_mut().take());
        let message = message(payload.as_ref());
        // The payload's destructor may panic too; then it is leaked.
        if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            std::mem::forget(second);
        }
        let failure =
            Failure::new(FailureClass::Plugin, "plugin.panic", format!("the plugin panicked: {message}"));
        match place {
            Some(place) => failure.place(place),
            None => failure,
        }
    })
}

fn message(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        "a value that is no text".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_and_place_are_kept() {
        let line = line!() + 1;
        let failure = catch_panic(|| panic!("no {}", "bread")).unwrap_err();
        assert_eq!(failure.code, "plugin.panic");
        assert_eq!(failure.class, FailureClass::Plugin);
        assert!(failure.message.ends_with("no bread"), "{}", failure.message);
        assert!(failure.place.unwrap().contains(&format!("guard.rs:{line}:")));
    }

    #[test]
    fn a_payload_that_panics_when_dropped_is_contained() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("second");
            }
        }
        let failure = catch_panic(|| std::panic::panic_any(Bomb)).unwrap_err();
        assert!(failure.message.contains("no text"));
        assert_eq!(catch_panic(|| 3), Ok(3));
    }

    #[test]
    fn the_place_of_one_panic_is_not_given_to_the_next() {
        let _ = catch_panic(|| panic!("first"));
        assert_eq!(catch_panic(|| std::panic::resume_unwind(Box::new("quiet"))).unwrap_err().place, None);
    }
}

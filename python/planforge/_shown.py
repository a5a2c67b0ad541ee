"""Results that a notebook shows."""


class Shown:
    """A result whose HTML form is made by the function of `_display` with the name of its class."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        from . import _display

        name = next(one.__name__ for one in type(self).__mro__ if one.__module__.startswith("planforge."))
        html: str = getattr(_display, name.lower())(self)
        return html

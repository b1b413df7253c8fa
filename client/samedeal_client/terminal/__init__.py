"""The terminal client: screens and widgets that draw the view model and hand keys on to it."""

//! Empty: the tests of this package hold the structure of the workspace.

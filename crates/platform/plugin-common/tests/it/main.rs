mod deadline;
mod telling;
mod words;

//! Diagnostic codes of knowledge files, programs and answers for `planforge explain`.

use planforge_diagnostics::CodeInfo;

/// A code's name in the source, and its entry in [`CODES`].
macro_rules! codes {
    ($($name:ident $code:literal $title:literal $explanation:literal;)*) => {
        $(pub(crate) const $name: &str = $code;)*
        /// Every diagnostic code of declarations, assembled programs and their answers.
        pub const CODES: &[CodeInfo] = &[$(CodeInfo { code: $code, title: $title, explanation: $explanation }),*];
    };
}

codes! {
DECLARATION "asp.declaration" "a declaration of a knowledge file has none of the known forms"
    "A knowledge file declares what only the intermediate representation has, in facts of these forms:\n\n    \
     ir_type(block, \"a block\").\n    ir_predicate(on_top(block, block), \"block X is on block Y\").\n    ir_object(wrench).\n    \
     ir_prefix(level, l).\n    ir_first_index(level, 0).\n\nWrite the statement in one of them, without conditions.\n";
SHADOWED "asp.shadowed" "a declaration or rule takes a name that has a meaning already"
    "A knowledge file declares a type or predicate that the domain has, or declares or concludes a predicate of the library, so that one\n\
     name would have two meanings:\n\n    ir_predicate(clear(tile), \"...\").\n    first(X, Y) :- init(on(X, Y)).\n\n\
     Leave it out, or give it another name. Names that begin with `_` are the library's.\n";
DECLARED_TWICE "asp.declared-twice" "a type or predicate is declared twice"
    "A knowledge file declares one name twice:\n\n    ir_type(row, \"a row\"). ir_type(row, \"a line\").\n\nLeave one of both out.\n";
UNKNOWN_ARGUMENT_TYPE "asp.unknown-argument-type" "a declared predicate has an argument of an unknown type"
    "The arguments of a declared predicate are of types of the domain, of declared types, or numbers (`row`, `column`, `number`):\n\n    \
     ir_predicate(seat_grid(row, column, chair), \"...\").\n\nCorrect the type or declare it with ir_type.\n";
KNOWLEDGE_NAME "asp.knowledge-name" "a rule of a knowledge file uses a name that nothing has"
    "Rules of a knowledge file speak of the domain's types and predicates, of what the file declares, of the library's words, and of \
     predicates\nthat rules of the same file derive. Any other name makes a rule that never applies or, behind `not`, one that always \
     does:\n\n    init(free(S)) :- object(S, shelf), not takn(S).\n\nCorrect the spelling (hyphens are `_`), or declare the name with \
     ir_type or ir_predicate.\n";
ASSEMBLED_DIRECTIVE "asp.directive" "a directive has no place in a program that is assembled from parts"
    "Knowledge files consist of rules, facts and constraints. `#show`, `#const`, `#minimize` and the like would act on the whole program:\n\n    \
     #const size = 3.\n\nSay it with rules: a constant is a fact, a preference is a rule that chooses.\n";
TOO_MANY "asp.more-than-counted" "there are more objects of a type than the text counts"
    "A cardinality counts fewer objects than are named:\n\n    cardinality(shot, 2). init(clean(shot1)). init(clean(shot2)). init(clean(shot3)).\n\n\
     Correct the count, or the name of the object that should be another one.\n";
TWO_COUNTS "asp.two-counts" "a type is counted twice, differently"
    "Two cardinalities of one type have different numbers:\n\n    cardinality(shot, 3). cardinality(shot, 4).\n\nKeep the right one.\n";
NO_COUNT "asp.no-count" "a cardinality is no number of objects"
    "The second argument of a cardinality is a number from 0:\n\n    cardinality(shot, many).\n\nWrite the number, or leave the line out.\n";
MAP_SIZES "asp.map-sizes" "a map pairs types of different size"
    "A map relates the objects of two types one to one, so there have to be as many of the one as of the other:\n\n    \
     cardinality(dispenser, 3). cardinality(ingredient, 2). init(map(dispenser, dispenses, ingredient)).\n\n\
     Correct a count, or say the relation object by object.\n";
MAP_PREDICATE "asp.map-predicate" "a map is by something that relates no two objects"
    "The second argument of a map is a predicate of two arguments, of the domain or declared in the knowledge file:\n\n    \
     init(map(dispenser, dispense, ingredient)).\n\nCorrect the name, or declare the predicate with ir_predicate.\n";
GRID "asp.grid-place" "a grid has two objects in one place, or one object in two"
    "Every object of a grid has one place, and every place at most one object:\n\n    \
     init(tile_grid(1, 1, tile_1_1)). init(tile_grid(1, 1, tile_1_2)).\n\nCorrect the row or column.\n";
CONSTRAINT "asp.constraint" "a constraint of the knowledge file is violated"
    "The knowledge file rules out what the representation says; the message has the constraint and the lines that it conflicts with:\n\n    \
     :- cardinality(row, N), N != #count { R : init(tile_grid(R, _, _)) }.\n\nCorrect one of those lines.\n";
CONFLICT "asp.conflict" "the knowledge file finds a conflict"
    "A rule of the knowledge file derived conflict(...) from the lines that are named:\n\n    \
     conflict(\"a robot has one place\") :- init(at(R, P)), init(at(R, Q)), P != Q.\n\nCorrect one of those lines.\n";
NO_ANSWER "asp.no-answer" "rules deny each other, so that the program has no answer"
    "Even with its constraints left out the program has no answer set: something holds just because it does not:\n\n    \
     init(clear(X)) :- object(X, tile), not init(clear(X)).\n\nLook for a rule whose conclusion is negated among its own conditions.\n";
AMBIGUOUS "asp.ambiguous" "the representation can be read in several ways that make different problems"
    "The program has several answer sets, and they differ in more than the names of objects; the message has the atoms that differ:\n\n    \
     1 { goal(at(ball1, R)) : object(R, room) } 1.\n\nSay which one is meant.\n";
SEVERAL "asp.several-answers" "several answers that differ only in the names of objects"
    "The program has several answer sets that make the same problem up to renaming. The first one, in the order of their atoms, was taken.\n";
TOO_MANY_OBJECTS "asp.too-many-objects" "a cardinality asks for more objects than are made"
    "Objects that nothing names are made up to a limit, which the message tells:\n\n    cardinality(shot, 1000000000).\n\nCorrect the count.\n";
UNSETTLED "asp.unsettled" "every object that is made asks for another one"
    "Objects are made until every count holds. Here each round asks for more of them, or for others:\n\n    \
     cardinality(shot, N + 1) :- amount(shot, N).\n\nLook for a count that depends on itself.\n";
}

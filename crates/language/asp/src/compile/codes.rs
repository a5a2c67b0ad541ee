//! The compiler's diagnostic codes for `planforge explain`.

use planforge_diagnostics::CodeInfo;

const fn code(code: &'static str, title: &'static str, explanation: &'static str) -> CodeInfo {
    CodeInfo { code, title, explanation }
}

/// Every diagnostic code of the compiler.
pub const CODES: &[CodeInfo] = &[
    code(
        "asp.unknown-type",
        "a type that neither the domain nor the knowledge file has",
        "An object was given a type that is not in the domain's :types and that the knowledge file does not declare as one of\n\
         the intermediate representation:\n\n    object(shot1, shots).\n\n\
         Correct the spelling. A type that only the representation has is declared in knowledge.lp and then left out of the\n\
         PDDL by design:\n\n    ir_type(block, \"a block\").",
    ),
    code(
        "asp.unknown-predicate",
        "a predicate that neither the domain nor the knowledge file has",
        "A fact uses a predicate that is not in the domain's :predicates and that the knowledge file does not declare as one\n\
         of the intermediate representation:\n\n    init(is_clean(shot1)).\n\n\
         Use the domain's predicate, with `_` for each hyphen of its name. A predicate that only the representation has, such\n\
         as a grid, is declared in knowledge.lp and then left out of the PDDL by design.",
    ),
    code(
        "asp.unknown-function",
        "a numeric function that the domain does not have",
        "A value, a bound or the metric is about a function that is not in the domain's :functions:\n\n    \
         init(total_costs = 0).\n\nCorrect the spelling, with `_` for each hyphen.",
    ),
    code(
        "asp.arity",
        "too many or too few arguments",
        "A predicate or function has another number of arguments than the domain declares:\n\n    init(on(b1)).\n\n\
         Add or remove arguments.",
    ),
    code(
        "asp.wrong-type",
        "an object of a type that the predicate is not for",
        "An argument's type and the type that the domain declares at its place have no object in common:\n\n    \
         init(clean(hand1)).\n\nPut another object there, or correct the object's type.",
    ),
    code(
        "asp.not-an-object",
        "an argument that is no object",
        "Everything that a fact is about must be an object. An argument is none when no line says so, and no rule makes it\n\
         one, or when it is a number or a term with arguments:\n\n    init(height(pos_1_1, 0)).\n\n\
         Add `object(NAME, TYPE).`, correct the spelling, or write the object's name where the number stands.",
    ),
    code(
        "asp.ir-only-object",
        "an object in the PDDL whose types PDDL does not get",
        "The object has only types that the knowledge file declares as the representation's own, so it is left out of the\n\
         problem, and a fact that is not left out names it. The knowledge file needs a rule that gives such objects a type of\n\
         the domain:\n\n    object(X, object) :- object(X, block).",
    ),
    code(
        "asp.object-name",
        "an object without a name that PDDL can write",
        "A name in PDDL is a letter, followed by letters, digits, `_` and `-`. Numbers and terms with arguments are none:\n\n    \
         object(pos(1, 2), position).\n\nWrite `pos_1_2`.",
    ),
    code(
        "asp.name-collision",
        "two objects with one name",
        "PDDL does not tell upper from lower case, so these are one object:\n\n    object(ball_A, ball). object(ball_a, ball).\n\n\
         Rename one of them.",
    ),
    code(
        "asp.several-types",
        "an object of types that exclude each other",
        "An object is declared with the most specific of its types. These are not one below the other, and the domain has no\n\
         type, or several, below both:\n\n    object(box1, crate). object(box1, hoist).\n\n\
         Types also follow from where an object is used: `init(lifting(box1, box2))` makes box1 a hoist. Correct the line\n\
         that is wrong.",
    ),
    code(
        "asp.common-subtype",
        "an object of two types became one of the type below both",
        "No type of the object is below the others, but the domain has one type below all of them, and only its objects have\n\
         all these types. The object is declared with it. Say the type in the text's representation if it is another.",
    ),
    code(
        "asp.constant-type",
        "a constant of the domain with another type",
        "The domain declares the object as a constant with a type that the answer contradicts. The domain decides. Correct the\n\
         line that gives the other type.",
    ),
    code(
        "asp.undeclared-constant",
        "the domain's actions name an object that nobody declares",
        "Some domains use names in their actions without declaring them in :constants; every problem then has to declare\n\
         them. Nothing says what this one is, so it is declared as `object`. Give its type in the knowledge file.",
    ),
    code(
        "asp.not-a-fact",
        "a state holds something that is no fact",
        "`init` and `goal` take a predicate with its objects, not a number, a text or a list:\n\n    init(5).",
    ),
    code(
        "asp.empty-goal",
        "the problem would have no goal",
        "Nothing of the domain's predicates stands in a `goal(...)`. A problem without a goal is solved by doing nothing, so\n\
         it is not compiled.",
    ),
    code(
        "asp.contradictory-goal",
        "the goal wants a fact to hold and not to hold",
        "No state can satisfy it. The lines that say the two things are shown; take one of them back.",
    ),
    code(
        "asp.contradictory-init",
        "the initial state contradicts itself",
        "A fact is said to hold and not to hold, or a number has two values:\n\n    init(fuel(truck1) = 3). init(fuel(truck1) = 5).",
    ),
    code(
        "asp.not-a-number",
        "a value or a bound that is not made of numbers",
        "Values of numeric functions are whole numbers, or texts that hold a decimal one; bounds compare with <, <=, =, >=\n\
         and >:\n\n    init(distance(a, b) = \"2.5\").",
    ),
    code(
        "asp.metric",
        "a metric that PDDL cannot write",
        "A problem has one metric, which minimises or maximises a numeric function of the domain or the plan's duration:\n\n    \
         metric(minimize, total_cost).",
    ),
    code(
        "asp.no-initial-value",
        "the metric is over a number that starts without a value",
        "A function without an initial value is undefined, and increasing it changes nothing. Knowledge of the domain should\n\
         give one:\n\n    init(total_cost = 0).",
    ),
    code(
        "asp.too-many-mistakes",
        "more mistakes than are shown",
        "Most of them follow from the first ones. Correct those and compile again.",
    ),
];

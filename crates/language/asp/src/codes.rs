//! The diagnostic codes of this crate, each with an example that triggers it and a remedy.

use planforge_diagnostics::CodeInfo;

/// A code's name in the source, and its entry in [`CODES`]:
/// `NAME "code" "title" means "..." example "..." so "...";`
macro_rules! codes {
    ($($name:ident $code:literal $title:literal means $means:literal example $example:literal so $so:literal;)*) => {
        $(pub(crate) const $name: &str = $code;)*
        /// Every diagnostic code of this crate.
        pub const CODES: &[CodeInfo] = &[$(CodeInfo {
            code: $code,
            title: $title,
            explanation: concat!($means, "\n\nExample:\n\n    ", $example, "\n\n", $so, "\n"),
        }),*];
        /// The examples by code, for the test that reads each of them.
        #[cfg(test)]
        pub(crate) const EXAMPLES: &[(&str, &str)] = &[$(($code, $example)),*];
    };
}

codes! {
TOO_LARGE "asp.too-large" "the program is larger than what is read"
    means "A program is read up to a limit, which the message tells. A larger one is refused before anything is read."
    example "a reply of 10 MB"
    so "Check where the text comes from; rules say in one line what thousands of facts say.";
TOO_MANY_FINDINGS "asp.too-many-findings" "there is more to say than is shown"
    means "One program gets at most 200 diagnostics; the rest is counted."
    example "300 statements of an unknown predicate"
    so "Repair the first ones and read again: most of the others follow from them.";
TOO_DEEP "asp.too-deep" "terms are nested too deep"
    means "Terms are read up to 100 levels deep, counting chains of operators."
    example "p(((((((( and so on, a thousand times"
    so "Look for parentheses that are never closed.";
UNEXPECTED "asp.unexpected" "something else is expected at this place"
    means "The text does not follow the grammar of answer set programs. The message tells what may stand there and what was found."
    example "p(a,,b)."
    so "Compare the statement with the form `head :- body.`; what was found is marked.";
MISSING_DOT "asp.missing-dot" "a statement has no dot at its end"
    means "Every statement ends with a dot; the text ended first."
    example "p(a). p(b)"
    so "Add the dot.";
UNCLOSED "asp.unclosed" "a text or comment is never closed"
    means "A text in quotes ends on its line, and a comment that begins with `%*` ends with `*%`."
    example "p(\"a)."
    so "Close it.";
NUMBER "asp.number" "a number is too large"
    means "The reasoner holds numbers up to 2147483647."
    example "cost(9999999999)."
    so "Use a smaller unit.";
CHARACTER "asp.character" "a character means nothing in this language"
    means "The character is no part of a name, a number, a text or a sign of rules."
    example "p(a) & q(b)."
    so "Remove it. Literals of a body are separated by commas.";
FOREIGN_NAME "asp.foreign-name" "a name has letters outside a-z, A-Z, 0-9 and `_`"
    means "Names are written in ASCII, as in PDDL. A name is not rewritten, since two different ones could become the same."
    example "on(caf\u{e9}, table)."
    so "Spell the name with plain letters.";
TYPOGRAPHY "asp.typography" "a typographic character was read as the plain one"
    means "Typographic quotes, dashes and spaces in a model's text are read as `\"`, `-` and space."
    example "on(\u{201c}b1\u{201d}, b2)."
    so "Nothing, or write plain ASCII.";
CLASSICAL_NEGATION "asp.classical-negation" "a sign for classical negation stands before an atom"
    means "`-p` is a second predicate in answer set programs, which no task needs, so it is not read."
    example "-clear(b1)."
    so "Leave out what does not hold in the initial state; write `goal(not clear(b1)).` in the goal.";
UNSUPPORTED "asp.unsupported" "a construct that is not read"
    means "The language of clingo has more than is read here: disjunctions, pools, sets in bodies, double negation."
    example "p(a;b)."
    so "The help beside the message tells how to write the same without it.";
}

/// The reader's codes: repairs first, then refusals.
pub(crate) mod reader {
    use planforge_diagnostics::CodeInfo;

    codes! {
    PROSE "ir.prose" "lines that are no program are left out"
        means "Models write sentences around their programs, although they are asked for the program alone. Such lines are passed over and told."
        example "Here is the program:\ninit(clean(shot1))."
        so "Nothing, if the lines say nothing of the task. A statement that was taken for prose begins with no known name: correct it.";
    SEVERAL_BLOCKS "ir.several-blocks" "a reply has several code blocks with statements"
        means "All of them are read, one after the other, as one program."
        example "```\ninit(clean(shot1)).\n```\n```\ngoal(clean(shot1)).\n```"
        so "Check that none of the blocks is a draft of another.";
    MARKUP "ir.markup" "marks of a list or of code are left out"
        means "Bullets, numbers and back-ticks before statements belong to the way a reply is written, not to the program."
        example "- init(clean(shot1))."
        so "Nothing, or write the statements alone.";
    LOST_DOT "ir.lost-dot" "a lost dot was added"
        means "Every statement ends with a dot. Models write one statement a line, so a line that begins like a statement ends the one before; so does a comma between two facts."
        example "init(clean(shot1))\ninit(clean(shot2))."
        so "Compare the statement with what was meant; the fix adds the dot.";
    LOST_PARENTHESIS "ir.lost-parenthesis" "a lost closing parenthesis was added"
        means "At a dot, before `:-`, and where a condition begins all parentheses are closed."
        example "init(clean(shot1)."
        so "Compare the statement with what was meant; the fix adds the parenthesis.";
    EXTRA_PARENTHESIS "ir.extra-parenthesis" "a closing parenthesis too many was left out"
        means "It closes nothing."
        example "init(clean(shot1)))."
        so "Compare the statement with what was meant; the fix removes it.";
    SIGN "ir.sign" "a sign was read as another"
        means "`:`, `<-` behind a head are read as `:-`, and `and`, `&` between conditions as a comma."
        example "init(clean(X)) :- object(X, shot) and object(X, container)."
        so "Nothing, or write the sign of the language.";
    NAME "ir.name" "a name was read in another spelling"
        means "Names are lower-case with `_` instead of hyphens. A hyphen between letters without spaces, an upper-case constant in a fact and quotes around a name are read as such a name. `N-1` stays arithmetic."
        example "init(at(Robot1, tile-0-1))."
        so "Check that no variable was meant: a fact has none.";
    NAME_COLLISION "ir.name-collision" "two names are one for the reasoner"
        means "PDDL tells `a-b` from `a_b`; answer set programs, which have no hyphens in names, cannot. In a domain this is an error, since there is no way back to PDDL; in a text both are taken to be one object."
        example "init(clean(shot-1)). init(empty(shot_1))."
        so "Rename one of both.";
    NEGATIVE "ir.negative-goal" "`not` inside `init` or `goal` was read as a fact that must not hold"
        means "Answer set programs have no `not` inside a term, but what is meant is clear. It becomes a negative literal of the goal; in the initial state, where all that is not said is false, it is checked against what is said."
        example "goal(not clean(shot1))."
        so "Nothing.";
    NUMBER_FACT "ir.number-fact" "a comparison inside `init` or `goal` was read as one of a numeric function"
        means "`init(total_cost = 0)` says what a function of the domain is worth, `goal(fuel(truck1) >= 3)` bounds one."
        example "init(total_cost = 0)."
        so "Nothing.";
    NUMBER_NAME "ir.number-name" "a number was read as the object that it numbers"
        means "The knowledge file says with `ir_prefix` how the objects of a type are called: with the prefix n, the number 2 is n2. Texts that speak of heights or levels as numbers do not tell such names."
        example "goal(filled(container1, 2))."
        so "Nothing, or write the object's name.";
    BARE "ir.bare-predicate" "a predicate outside `init` and `goal` was read as part of the initial state"
        means "A predicate of the domain at the head of a rule says nothing of the state that is meant; the initial one is taken."
        example "clean(shot1)."
        so "Write `init(clean(shot1))` or `goal(clean(shot1))`.";
    TYPE_AS_PREDICATE "ir.type-as-predicate" "a type was written like a predicate"
        means "Types are no predicates, but `shot(X)` can only mean that X is a shot."
        example "init(clean(X)) :- shot(X)."
        so "Nothing, or write `object(X, shot)`.";
    SPLIT "ir.several-facts" "several facts inside one `init` or `goal` were read as one each"
        means "`init` and `goal` have one argument. Several are taken apart into a statement each."
        example "goal(clean(shot1), empty(shot1))."
        so "Nothing, or write one statement for each.";
    NO_PROGRAM "ir.no-program" "the text has no statement"
        means "Not one line looks like a fact or rule."
        example "I cannot do that."
        so "Ask for the program alone, one statement a line.";
    CUT_OFF "ir.cut-off" "the text ends in the middle of a statement"
        means "What is missing cannot be guessed: `cock` may be the beginning of `cocktail1`."
        example "init(clean(shot1)).\ngoal(clean(sho"
        so "Raise the limit on the length of replies, or ask for a shorter text.";
    TOO_MANY_STATEMENTS "ir.too-many-statements" "the program has too many statements"
        means "At most 20000 statements are read."
        example "20001 facts"
        so "Say in one rule what many facts say.";
    DIRECTIVE "ir.directive" "a directive stands in the text"
        means "Directives, such as #show, #const, #include, #script and #external, steer the reasoner or reach outside the program. A task needs none, so none is taken from a text."
        example "#include \"/etc/passwd\"."
        so "Remove it. What the reasoner should know of a domain is said by rules of its knowledge file.";
    EXTERNAL "ir.external-function" "a function outside the program is called"
        means "`@name` calls code outside the program. Only the library may do so."
        example "init(clean(@system(1)))."
        so "Write names of objects; objects that a count asks for are made without being named.";
    UNKNOWN_PREDICATE "ir.unknown-predicate" "a predicate that neither the domain nor the representation has"
        means "A text may use the domain's predicates, those that the knowledge file declares, object/2, cardinality/2, init/1, goal/1 and map/3."
        example "init(cleen(shot1))."
        so "Correct the name.";
    ARITY "ir.arity" "the wrong number of arguments"
        means "Every predicate has a fixed number of arguments."
        example "init(clean(shot1, shot2))."
        so "Add or remove arguments.";
    UNKNOWN_TYPE "ir.unknown-type" "a type that neither the domain nor the representation has"
        means "`object`, `cardinality` and `map` name types: those of the domain and those that the knowledge file declares."
        example "cardinality(glass, 3)."
        so "Correct the name.";
    UNSAFE "ir.unsafe-variable" "a variable that nothing binds"
        means "Every variable of a statement stands in a condition without `not`, which says what it ranges over."
        example "init(clean(X))."
        so "Write `:- object(X, TYPE)` for all objects of a type, or the name of one object.";
    CHOICE "ir.choice" "a choice stands in the text"
        means "A description of a task says what holds and leaves nothing to choose; with choices a task would have several answers."
        example "{ init(clean(shot1)) }."
        so "Write what holds as facts and rules.";
    CONSTRAINT "ir.constraint" "a constraint stands in the text"
        means "A constraint excludes answers and says nothing of the task's facts. What makes no sense in a domain is excluded by its knowledge file."
        example ":- init(clean(shot1))."
        so "Leave it out, or write `goal(not clean(shot1)).` if that is what is meant.";
    FRAGMENT "ir.not-in-the-representation" "a construct that the representation does not have"
        means "The intermediate representation is facts and rules with `not`, comparisons, intervals, arithmetic and #count, over objects without inner structure."
        example "init(clean(X)) :- object(X, shot), #sum { 1 : object(X, shot) } > 0."
        so "Say it without the construct.";
    OR "ir.or" "conditions are separated by a semicolon"
        means "For the reasoner `;` between conditions is `and`; in other languages it is `or`. What is meant cannot be told."
        example "init(clean(X)) :- object(X, shot); object(X, container)."
        so "Write a rule for each way if `or` is meant, and a comma if `and` is meant.";
    GROWTH "ir.growth" "a rule makes ever new numbers out of its own results"
        means "A rule that computes a number from what it concludes itself, directly or by other rules, never ends."
        example "init(max_height(X + 1)) :- init(max_height(X))."
        so "Say with an interval which numbers there are: `N = 1..5`.";
    INTERVAL "ir.interval" "an interval that is too long, or has no numbers as its ends"
        means "An interval runs between two numbers, over at most 10000 of them."
        example "init(max_height(1..1000000))."
        so "Use the numbers that the task has.";
    TOO_MANY_ATOMS "ir.too-many-atoms" "a statement would be true in too many ways"
        means "Before the reasoner is asked it is estimated how many facts each statement gives. A program gives at most 250000, and a type has at most 10000 objects."
        example "cardinality(shot, 1000000000)."
        so "Correct the numbers, or join the conditions of a rule by common variables.";
    UNSTRATIFIED "ir.negation-in-a-circle" "a rule depends on its own absence"
        means "Where a fact depends on `not` of itself, directly or by other rules, it is not clear what holds."
        example "init(clean(X)) :- object(X, shot), not init(clean(X))."
        so "Base the rule on facts that the text states.";
    }
}

/// Codes of knowledge files, programs and answers.
pub(crate) mod program {
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
}

/// The compiler's codes.
pub(crate) mod compile {
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax;
    use planforge_diagnostics::{Diagnostic, SourceId};
    use planforge_pddl::parse_domain;
    use std::collections::BTreeSet;

    const SOURCE: SourceId = SourceId(0);

    /// The domain that the reader's examples are for.
    const DOMAIN: &str = "(define (domain bar) (:requirements :typing :numeric-fluents) (:types shot container level)
    (:predicates (clean ?s - shot) (empty ?s - shot) (filled ?c - container ?l - level)) (:functions (total_cost)))";

    /// The examples that are too long to be written out.
    fn written_out(code: &str, example: &str) -> String {
        match code {
            TOO_LARGE => " ".repeat(syntax::MAX_BYTES + 1),
            TOO_MANY_FINDINGS => "p(,). ".repeat(300),
            TOO_DEEP => format!("p({}", "(".repeat(1000)),
            reader::TOO_MANY_STATEMENTS => "init(clean(a)).\n".repeat(crate::reader::MAX_STATEMENTS + 1),
            _ => example.to_owned(),
        }
    }

    fn findings(code: &str, text: &str) -> Vec<Diagnostic> {
        if code == TYPOGRAPHY {
            let lexed = syntax::lexer::lex(text, 0..text.len(), true);
            return lexed
                .findings
                .iter()
                .map(|(f, span)| syntax::of_finding(*f, *span, text, SOURCE))
                .collect();
        }
        if !code.starts_with("ir.") {
            return syntax::parse(text, SOURCE).diagnostics;
        }
        let domain = parse_domain(DOMAIN, SOURCE).value;
        let knowledge = syntax::parse("ir_prefix(level, n).", SOURCE);
        let mut signature = crate::reader::Signature::new(
            &domain,
            &crate::read_knowledge(&knowledge.program, &domain, SOURCE).0,
        );
        signature.ir_predicates.insert("max_height".to_owned(), vec!["number".to_owned()]);
        let tile = ["container", "shot"].map(str::to_owned).to_vec();
        signature.ir_predicates.insert("at".to_owned(), tile);
        crate::reader::read(text, SOURCE, &signature).diagnostics()
    }

    #[test]
    fn every_example_gets_its_code() {
        for (code, example) in EXAMPLES.iter().chain(reader::EXAMPLES) {
            let found = findings(code, &written_out(code, example));
            assert!(found.iter().any(|d| d.code == *code), "{code}: {found:?}");
        }
    }

    #[test]
    fn codes_are_named_once_and_explained() {
        let all = || CODES.iter().chain(reader::CODES).chain(compile::CODES).chain(program::CODES);
        let codes: BTreeSet<&str> = all().map(|info| info.code).collect();
        assert_eq!(codes.len(), all().count());
        for info in all() {
            assert!(info.code.starts_with("asp.") || info.code.starts_with("ir."), "{}", info.code);
            assert!(!info.title.ends_with('.') && !info.explanation.is_empty(), "{}", info.code);
        }
    }
}

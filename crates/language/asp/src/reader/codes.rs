//! The reader's diagnostic codes: repairs first, then refusals.

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

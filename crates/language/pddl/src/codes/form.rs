//! Codes about the form of a text: bytes, parentheses, sections, lists.

use super::{CodeInfo, codes};

codes! { CODES, EXAMPLES,
"pddl.empty" "the text is empty"
    means "Nothing but white space was given where a domain, a problem or another text is expected."
    example Described "an empty file"
    so "Check that the right file was named and that whatever writes it has finished.";
"pddl.too-large" "the text is larger than what is read"
    means "A text is read up to 64 MiB. Larger files are refused before anything is read."
    example Described "a file of 100 MB"
    so "Check that the right file was named; a problem of that size cannot be grounded anyway.";
"pddl.binary" "the file is not a text"
    means "The file has zero bytes, which no text has. The message tells the first."
    example Described "an executable given as the domain"
    so "Check that the right file was named.";
"pddl.invalid-utf8" "the file is not UTF-8"
    means "The message has the offset and line of the first byte that is not UTF-8. In a comment of a PDDL file this is a warning, and the byte is read as Latin-1; elsewhere it is an error."
    example Described "a name with an umlaut saved as Latin-1"
    so "Save the file as UTF-8, or remove the character.";
"pddl.too-deep" "lists are nested too deep"
    means "Lists are read up to 512 deep. Nothing of a deeper text is read."
    example Described "100,000 opening parentheses"
    so "Look for parentheses that are never closed.";
"pddl.too-many-findings" "there is more to say than is shown"
    means "One text gets at most 1000 diagnostics of its form and as many of its meaning; the rest is counted."
    example Described "a problem with 2000 facts of an undefined predicate"
    so "Repair the first ones and check again: most of the rest follow from them.";
"pddl.too-many-parameters" "a list has too many variables"
    means "At most 1000 variables of one parameter list are read."
    example Described "an action with 2000 parameters"
    so "Check what wrote the list.";
"pddl.no-definition" "there is no definition"
    means "A domain or problem is one list that begins with `(define`. The text has none."
    example Domain "(:action a :parameters ())"
    so "Write `(define (domain NAME) ...)` around the sections.";
"pddl.several-definitions" "a second definition of the same kind"
    means "Only the first is read."
    example Domain "(define (domain a) (:predicates (p)))\n(define (domain b) (:predicates (p)))"
    so "Keep one of them in the text.";
"pddl.other-definition" "a definition of the other kind stands in the text"
    means "A domain was asked for and the text also has a problem, or the other way round. It is left alone."
    example Domain "(define (domain a) (:predicates (p)))\n(define (problem b) (:domain a))"
    so "Nothing, if the text is read for both; otherwise move it to a file of its own.";
"pddl.wrong-kind" "a problem where a domain is expected, or the reverse"
    means "The only definition in the text is of the other kind."
    example Domain "(define (problem b) (:domain a) (:init) (:goal (p)))"
    so "Exchange the two files.";
"pddl.lisp-form" "a Lisp form before the definition"
    means "Files of the first competition begin with `(in-package ...)`. It means nothing and is skipped."
    example Domain "(in-package \"PDDL\")\n(define (domain a) (:predicates (p)))"
    so "Remove it: most planners do not take it.";
"pddl.unclosed" "closing parentheses are missing at the end"
    means "The text ends inside a list. The reader closes every list there."
    example Domain "(define (domain a)\n  (:predicates (p))\n  (:action x :parameters () :effect (p))"
    so "Add the parentheses; the fix does.";
"pddl.lost-parenthesis" "a closing parenthesis was lost before this point"
    means "A keyword such as `(:action` or `:effect` stands deeper than it can, or an atom goes on with a list on the next line. The lists still open before it lost their parentheses, and the reader closes them there."
    example Domain "(define (domain a)\n  (:predicates (p) (q)\n  (:action x\n    :parameters ()\n    :precondition (and (p) (not (q))\n    :effect (q)))"
    so "Add the parentheses at the place shown; the fix does.";
"pddl.stray-parenthesis" "a closing parenthesis too many"
    means "The parenthesis closes nothing, or it closes an action or the definition although it goes on. The reader passes over it."
    example Domain "(define (domain a)\n  (:predicates (p))\n  (:action x\n    :parameters ())\n    :effect (p)))"
    so "Remove it; the fix does.";
"pddl.stray-token" "something stands where nothing can"
    means "Words or lists outside every section, after the end of a section, or outside the definition."
    example Domain "(define (domain a)\n  blocks\n  (:predicates (p)))"
    so "Remove it, or move it to where it belongs; comments begin with `;`.";
"pddl.glued-variable" "a space is missing before a variable"
    means "`?` begins a variable even in the middle of a word; some planners read it otherwise."
    example Domain "(define (domain a)\n  (:predicates (p ?x))\n  (:action x :parameters (?x) :precondition (p?x) :effect (not (p ?x))))"
    so "Insert a space; the fix does.";
"pddl.glued-dash" "a space is missing after a dash"
    means "In a typed list the dash is a word of its own. `-block` is read as `- block`."
    example Domain "(define (domain a)\n  (:requirements :typing)\n  (:types block)\n  (:predicates (p ?x -block)))"
    so "Insert a space.";
"pddl.invalid-character" "a character that no name has"
    means "Names consist of letters, digits and signs such as `-` and `_`; commas, quotes, brackets and backslashes separate nothing in PDDL."
    example Domain "(define (domain a)\n  (:predicates (on ?x, ?y)))"
    so "Remove the character.";
"pddl.non-ascii-name" "a name outside ASCII"
    means "The name is read, but few planners take it."
    example Domain "(define (domain a)\n  (:predicates (geöffnet)))"
    so "Spell the name in ASCII letters.";
"pddl.unknown-section" "an unknown section"
    means "A section begins with one of the keywords of a domain or problem."
    example Domain "(define (domain a)\n  (:predicate (p)))"
    so "Correct the keyword, or move the section to the other definition.";
"pddl.duplicate-section" "a section is given twice"
    means "Each section but actions and rules stands once. Both are read, planners differ."
    example Domain "(define (domain a)\n  (:predicates (p))\n  (:predicates (q)))"
    so "Move everything into one section.";
"pddl.missing-section" "a section is missing"
    means "A domain has predicates and actions; a problem names its domain and has an initial state and a goal."
    example Problem "(define (problem p)\n  (:domain blocks)\n  (:objects a - block)\n  (:goal (clear a)))"
    so "Add the section.";
"pddl.missing-name" "something has no name"
    means "Definitions, actions, predicates and functions have names."
    example Domain "(define (domain a)\n  (:predicates (p))\n  (:action :parameters () :effect (p)))"
    so "Give it one, right after the keyword or parenthesis.";
"pddl.unknown-requirement" "an unknown requirement"
    means "The keyword is none that PDDL 1.2 to 3.1 define."
    example Domain "(define (domain a)\n  (:requirements :strip)\n  (:predicates (p)))"
    so "Correct or remove it.";
"pddl.unknown-field" "an unknown field of an action"
    means "An action has `:parameters`, `:precondition` and `:effect`; a durative one has `:duration` and `:condition`."
    example Domain "(define (domain a)\n  (:predicates (p))\n  (:action x :parameters () :preconditions (p) :effect (not (p))))"
    so "Correct the keyword.";
"pddl.duplicate-field" "a field of an action is given twice"
    means "Only the first is read."
    example Domain "(define (domain a)\n  (:predicates (p) (q))\n  (:action x :parameters () :effect (p) :effect (q)))"
    so "Join both with `and`.";
"pddl.missing-value" "a keyword without a value"
    means "The keyword is followed by another keyword or by the end."
    example Domain "(define (domain a)\n  (:predicates (p))\n  (:action x :parameters () :precondition :effect (p)))"
    so "Write the value, `()` for none.";
"pddl.missing-effect" "an action without an effect"
    means "Such an action can be executed and changes nothing."
    example Domain "(define (domain a)\n  (:predicates (p))\n  (:action x :parameters () :precondition (p)))"
    so "Add `:effect`.";
"pddl.missing-duration" "a durative action without a duration"
    means "A durative action says how long it takes."
    example Domain "(define (domain a)\n  (:requirements :durative-actions)\n  (:predicates (p))\n  (:durative-action x :parameters () :effect (at end (p))))"
    so "Add `:duration (= ?duration ...)`.";
"pddl.missing-and" "several expressions without `and`"
    means "A precondition, effect or goal is one expression. The reader joins several with `and`."
    example Domain "(define (domain a)\n  (:predicates (p) (q))\n  (:action x :parameters () :effect (p) (q)))"
    so "Write `(and ...)` around them.";
"pddl.missing-type" "a type is missing after a dash"
    means "The list ends after `-`, or what follows is no type."
    example Domain "(define (domain a)\n  (:predicates (p ?x -)))"
    so "Write the type, or remove the dash.";
"pddl.expected-list" "parentheses are missing"
    means "A list is expected: `(p)` where `p` is a predicate without arguments."
    example Domain "(define (domain a)\n  (:predicates (p))\n  (:action x :parameters () :effect p))"
    so "Write parentheses around it.";
"pddl.unexpected-list" "a list where a name belongs"
    means "Arguments, parameters, objects and types are names. A lost parenthesis is the usual cause."
    example Domain "(define (domain a)\n  (:predicates (p ?x) (q ?x))\n  (:action x :parameters (?x) :precondition (p (q ?x)) :effect (not (p ?x))))"
    so "Close the list before it.";
"pddl.expected-variable" "a variable is expected"
    means "Variables begin with a question mark."
    example Domain "(define (domain a)\n  (:predicates (p x)))"
    so "Write `?x`.";
"pddl.unexpected-variable" "a variable where none can be"
    means "Objects, constants, types and predicates have names without a question mark."
    example Problem "(define (problem p)\n  (:domain blocks)\n  (:objects ?a - block)\n  (:init)\n  (:goal (and)))"
    so "Remove the question mark.";
"pddl.bad-predicate" "a variable or keyword where a predicate belongs"
    means "An atom begins with a predicate, a numeric term with a function."
    example Domain "(define (domain a)\n  (:predicates (p ?x))\n  (:action x :parameters (?x) :effect (?x)))"
    so "Write the predicate's name first.";
"pddl.typed-argument" "a type among the arguments of an atom"
    means "Variables have their types where they are declared. In a condition, an effect or a fact `(at ?r - robot)` would have three arguments."
    example Domain "(define (domain a)\n  (:requirements :typing)\n  (:types robot)\n  (:predicates (p ?x - robot))\n  (:action x :parameters (?x - robot) :effect (p ?x - robot)))"
    so "Remove the dash and the type; the fix does.";
"pddl.bad-number" "not a number"
    means "A number that fits a 64-bit float is expected."
    example Problem "(define (problem p)\n  (:domain blocks)\n  (:objects a - block)\n  (:init (= (weight a) (weight a)))\n  (:goal (and)))"
    so "Write a number such as `3` or `0.5`.";
"pddl.parenthesised-number" "a number in parentheses"
    means "`(3)` is read as `3`; most planners refuse it."
    example Domain "(define (domain a)\n  (:requirements :numeric-fluents)\n  (:predicates (p))\n  (:functions (f))\n  (:action x :parameters () :effect (increase (f) (3))))"
    so "Remove the parentheses.";
"pddl.expected-fluent" "a numeric function is expected"
    means "What changes or is given a value is a declared function of numbers."
    example Domain "(define (domain a)\n  (:requirements :numeric-fluents)\n  (:predicates (p))\n  (:functions (f))\n  (:action x :parameters () :effect (increase 3 (f))))"
    so "Write the function first, then the number.";
"pddl.object-fluent" "functions with objects as values"
    means "PDDL 3.1 has functions whose values are objects. planforge does not read them."
    example Domain "(define (domain a)\n  (:requirements :typing :object-fluents)\n  (:types room)\n  (:predicates (p))\n  (:functions (place) - room))"
    so "Use a predicate that holds for exactly one object.";
"pddl.operator-arity" "an operator with the wrong number of arguments"
    means "`not` has one argument, `imply`, `=` and comparisons two, quantifiers a list of variables and one body."
    example Domain "(define (domain a)\n  (:requirements :negative-preconditions)\n  (:predicates (p) (q))\n  (:action x :parameters () :precondition (not (p) (q)) :effect (p)))"
    so "Join several with `and`.";
"pddl.misspelt-operator" "an operator PDDL spells otherwise"
    means "`implies` is read as `imply`; planners know only that."
    example Domain "(define (domain a)\n  (:requirements :adl)\n  (:predicates (p) (q))\n  (:action x :parameters () :precondition (implies (p) (q)) :effect (p)))"
    so "Write `imply`.";
"pddl.bad-condition" "not a condition"
    means "`when` makes an effect conditional; in a condition `imply` is meant."
    example Domain "(define (domain a)\n  (:predicates (p) (q))\n  (:action x :parameters () :precondition (when (p) (q)) :effect (p)))"
    so "Write `(imply A B)`.";
"pddl.bad-effect" "not an effect"
    means "Effects are atoms, `(not ATOM)`, `and`, `forall`, `when` and changes of numbers; nothing that leaves a choice."
    example Domain "(define (domain a)\n  (:predicates (p) (q))\n  (:action x :parameters () :effect (or (p) (q))))"
    so "Say exactly what becomes true and false.";
"pddl.time-inside-not" "the time stands inside `not`"
    means "`(not (at start (p)))` is read as `(at start (not (p)))`."
    example Domain "(define (domain a)\n  (:requirements :durative-actions)\n  (:predicates (p))\n  (:durative-action x :parameters () :duration (= ?duration 1)\n    :condition (at start (p)) :effect (not (at start (p)))))"
    so "Write the time outside.";
"pddl.bad-axiom" "an axiom of another form"
    means "An `:axiom` of PDDL 1.2 is read if it implies one atom whose arguments are variables."
    example Domain "(define (domain a)\n  (:requirements :domain-axioms)\n  (:predicates (p ?x) (q ?x))\n  (:axiom :vars (?x) :context (p ?x) :implies (not (q ?x))))"
    so "Write a `:derived` predicate.";
"pddl.and-in-init" "`and` in the initial state"
    means "The initial state is a list of facts; `(and ...)` around them is read as the facts."
    example Problem "(define (problem p)\n  (:domain blocks)\n  (:objects a - block)\n  (:init (and (clear a)))\n  (:goal (clear a)))"
    so "Remove the `and`.";
"pddl.bad-init" "not an entry of the initial state"
    means "The initial state has atoms, `(= FUNCTION NUMBER)` and timed literals; no quantifiers or choices."
    example Problem "(define (problem p)\n  (:domain blocks)\n  (:objects a - block)\n  (:init (forall (?x - block) (clear ?x)))\n  (:goal (clear a)))"
    so "List every fact with its objects.";
"pddl.bad-metric" "a metric without a direction"
    means "A metric begins with `minimize` or `maximize`."
    example Problem "(define (problem p)\n  (:domain blocks)\n  (:objects a - block)\n  (:init (clear a))\n  (:goal (clear a))\n  (:metric (weight a)))"
    so "Write `(:metric minimize ...)`.";
"pddl.bad-length" "a length of another form"
    means "`(:length (:serial N) (:parallel N))` of PDDL 1.2 has whole numbers."
    example Problem "(define (problem p)\n  (:domain blocks)\n  (:objects a - block)\n  (:init (clear a))\n  (:goal (clear a))\n  (:length 5))"
    so "Remove the section: nothing uses it.";
"pddl.several-blocks" "a reply has several domains or problems"
    means "The last complete one is used; the others are listed."
    example Reply "First try:\n```pddl\n(define (domain a) (:predicates (p)))\n```\nBetter:\n```pddl\n(define (domain a) (:predicates (p) (q)))\n```\n"
    so "Nothing; ask for one block if the wrong one is used.";
"pddl.unclosed-fence" "a code block is never closed"
    means "The reply begins a code block and does not end it; it was probably cut off."
    example Reply "```pddl\n(define (domain a)\n  (:predicates (p)"
    so "Raise the limit of tokens, if it was cut off.";
}

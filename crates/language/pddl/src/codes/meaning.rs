//! Codes about the meaning of a definition: names, types, scopes, requirements, use.

use super::{CodeInfo, codes};

codes! { CODES, EXAMPLES,
"pddl.undefined-predicate" "a predicate is not declared"
    means "Every predicate is declared in `:predicates`, with its parameters."
    example Domain "(define (domain a)\n  (:predicates (clear ?x))\n  (:action x :parameters (?x) :precondition (claer ?x) :effect (not (clear ?x))))"
    so "Correct the name, or declare the predicate.";
"pddl.undefined-function" "a numeric function is not declared"
    means "Every function, `total-cost` included, is declared in `:functions`."
    example Domain "(define (domain a)\n  (:requirements :action-costs)\n  (:predicates (p))\n  (:action x :parameters () :effect (and (p) (increase (total-cost) 1))))"
    so "Declare it: `(:functions (total-cost) - number)`.";
"pddl.undefined-type" "a type is not declared"
    means "Every type but `object` is declared in `:types`."
    example Domain "(define (domain a)\n  (:requirements :typing)\n  (:types block)\n  (:predicates (p ?x - blok)))"
    so "Correct the name, or declare the type.";
"pddl.undefined-constant" "a constant is declared nowhere"
    means "The domain names an object that neither it nor the problem declares, or the name is a variable without its question mark."
    example Domain "(define (domain a)\n  (:predicates (p ?x))\n  (:action x :parameters (?x) :precondition (p x) :effect (not (p ?x))))"
    so "Write the question mark, or declare the constant in `:constants`.";
"pddl.undeclared-constant" "a constant is not declared in the domain"
    means "The domain names an object that it does not declare. Planners tolerate this as long as every problem has an object of that name."
    example Domain "(define (domain a)\n  (:predicates (have ?x) (done))\n  (:action x :parameters () :precondition (have wrench) :effect (and (done) (not (have wrench)))))"
    so "Declare it in `:constants`.";
"pddl.undefined-object" "an object is not declared"
    means "The initial state or the goal names an object that the problem does not have."
    example Problem "(define (problem p)\n  (:domain blocks)\n  (:objects block1 - block)\n  (:init (movable block1) (clear blok1))\n  (:goal (clear block1)))"
    so "Correct the name, or declare the object in `:objects`.";
"pddl.undefined-preference" "a metric names an unknown preference"
    means "`(is-violated NAME)` counts a preference of the goal, the constraints or an action."
    example Problem "(define (problem p)\n  (:domain blocks)\n  (:requirements :preferences)\n  (:objects a - block)\n  (:init (movable a))\n  (:goal (preference tidy (clear a)))\n  (:metric minimize (is-violated tidi)))"
    so "Correct the name.";
"pddl.unbound-variable" "a variable that nothing binds"
    means "Variables are bound by an action's parameters, by the head of a rule or by a quantifier."
    example Domain "(define (domain a)\n  (:predicates (on ?x ?y))\n  (:action x :parameters (?x) :effect (on ?x ?y)))"
    so "Add the variable to the parameters, or correct its name.";
"pddl.arity" "the wrong number of arguments"
    means "An atom has as many arguments as its declaration has parameters."
    example Domain "(define (domain a)\n  (:predicates (on ?x ?y))\n  (:action x :parameters (?x) :effect (on ?x)))"
    so "Add or remove arguments.";
"pddl.type-mismatch" "an argument of the wrong type"
    means "No object of the argument's type can be of the type the parameter wants, so the atom can never hold."
    example Domain "(define (domain a)\n  (:requirements :typing)\n  (:types block room)\n  (:predicates (clear ?x - block))\n  (:action x :parameters (?r - room) :effect (clear ?r)))"
    so "Use an argument of the right type, or change a declaration.";
"pddl.wide-type" "an argument whose type is too wide"
    means "Some objects of the argument's type are of the type wanted, others are not. Planners tolerate it; VAL does not."
    example Domain "(define (domain a)\n  (:requirements :typing)\n  (:types block)\n  (:predicates (clear ?x - block))\n  (:action x :parameters (?o - object) :effect (clear ?o)))"
    so "Narrow the argument's type.";
"pddl.type-cycle" "a type is below itself"
    means "Types form a hierarchy."
    example Domain "(define (domain a)\n  (:requirements :typing)\n  (:types a - b b - a)\n  (:predicates (p)))"
    so "Remove one of the parents.";
"pddl.several-parents" "a type has two parents"
    means "The type is taken to be below both. Planners differ: some take the last, some refuse."
    example Domain "(define (domain a)\n  (:requirements :typing)\n  (:types place crate area - object area - place)\n  (:predicates (p ?x - area)))"
    so "Declare the type once.";
"pddl.undeclared-parent" "a parent type is not declared itself"
    means "It is taken to be below `object`, as planners do."
    example Domain "(define (domain a)\n  (:requirements :typing)\n  (:types truck - vehicle)\n  (:predicates (p ?x - truck)))"
    so "Add it to `:types`.";
"pddl.object-declared" "the built-in type `object` is declared"
    means "`object` is there without a declaration. Most planners tolerate it."
    example Domain "(define (domain a)\n  (:requirements :typing)\n  (:types room object)\n  (:predicates (p ?x - room)))"
    so "Remove it from `:types`.";
"pddl.duplicate-name" "a name is declared twice"
    means "Actions, predicates, functions, types, constants and objects have one declaration each."
    example Domain "(define (domain a)\n  (:predicates (p) (p ?x)))"
    so "Rename or remove one of them.";
"pddl.duplicate-parameter" "a variable is declared twice"
    means "Of two parameters with one name only one can be meant. In the declaration of a predicate it does no harm."
    example Domain "(define (domain a)\n  (:predicates (on ?x ?y))\n  (:action x :parameters (?x ?x) :effect (on ?x ?x)))"
    so "Rename one of them.";
"pddl.reserved-name" "a word of PDDL as a predicate's name"
    means "`and`, `or`, `not`, `=`, quantifiers and `when` have their own meaning."
    example Domain "(define (domain a)\n  (:predicates (= ?x ?y) (p)))"
    so "Remove the declaration: equality is built in; rename others.";
"pddl.undeclared-requirement" "a requirement is used but not declared"
    means "The definition uses something that its `:requirements` do not announce. Planners mostly do not care, validators do."
    example Domain "(define (domain a)\n  (:requirements :strips)\n  (:predicates (p) (q))\n  (:action x :parameters () :precondition (not (p)) :effect (p)))"
    so "Declare it; the fix does.";
"pddl.unused-requirement" "a requirement is declared and not used"
    means "Nothing in the domain needs it. That is no fault, but some planners refuse requirements they do not know."
    example Domain "(define (domain a)\n  (:requirements :strips :durative-actions)\n  (:predicates (p))\n  (:action x :parameters () :effect (p)))"
    so "Remove it.";
"pddl.unused-parameter" "a parameter is never used"
    means "The action gets a copy for every object without any difference between them."
    example Domain "(define (domain a)\n  (:predicates (p ?x))\n  (:action x :parameters (?x ?y) :effect (p ?x)))"
    so "Use or remove it.";
"pddl.unused-predicate" "no action or rule mentions a predicate"
    means "The predicate is declared and nothing in the domain tests or changes it."
    example Domain "(define (domain a)\n  (:predicates (p) (q))\n  (:action x :parameters () :effect (p)))"
    so "Remove it, or check what the actions forget.";
"pddl.never-added" "a predicate is only ever made false"
    means "Actions test and delete the predicate and none adds it. That is right for a resource that is used up."
    example Domain "(define (domain a)\n  (:predicates (fresh) (done))\n  (:action x :parameters () :precondition (fresh) :effect (and (done) (not (fresh)))))"
    so "Nothing, or add the effect that is missing.";
"pddl.never-true" "actions need a predicate that is never true"
    means "A precondition asks for it, no action or rule adds it and the initial state has no such fact, so those actions can never be executed."
    example Problem "(define (problem p)\n  (:domain blocks)\n  (:objects a b c - block)\n  (:init (on a b) (clear a) (clear c))\n  (:goal (on a c)))"
    so "Add the facts to the initial state.";
"pddl.unreachable-goal" "the goal asks for a predicate that is never true"
    means "No action or rule adds the predicate and the initial state has no such fact, so no plan can reach the goal."
    example Problem "(define (problem p)\n  (:domain blocks)\n  (:objects a b - block)\n  (:init (on a b) (clear a))\n  (:goal (movable a)))"
    so "Correct the goal, or the action that should add it.";
"pddl.empty-effect" "an effect without content"
    means "The action can be executed and changes nothing."
    example Domain "(define (domain a)\n  (:predicates (p))\n  (:action x :parameters () :precondition (p) :effect (and)))"
    so "Say what the action changes.";
"pddl.empty-goal" "a goal without content"
    means "The empty goal holds everywhere, so the empty plan is a solution."
    example Problem "(define (problem p)\n  (:domain blocks)\n  (:objects a - block)\n  (:init (movable a))\n  (:goal (and)))"
    so "Say what is to be reached.";
"pddl.contradictory-effect" "an atom is made false and true at once"
    means "PDDL lets the addition win, which is seldom what was meant."
    example Domain "(define (domain a)\n  (:predicates (p))\n  (:action x :parameters () :effect (and (not (p)) (p))))"
    so "Remove one of the two.";
"pddl.contradictory-condition" "an atom is asked to be true and false at once"
    means "The condition can never hold, so the action can never be executed."
    example Domain "(define (domain a)\n  (:requirements :negative-preconditions)\n  (:predicates (p) (q))\n  (:action x :parameters () :precondition (and (p) (not (p))) :effect (q)))"
    so "Remove one of the two.";
"pddl.contradictory-init" "the initial state contradicts itself"
    means "A fact is said to hold and not to hold, or a function is given two values."
    example Problem "(define (problem p)\n  (:domain blocks)\n  (:objects a - block)\n  (:init (movable a) (= (weight a) 1) (= (weight a) 2))\n  (:goal (clear a)))"
    so "Remove one of the two.";
"pddl.duplicate-fact" "a fact is given twice"
    means "The second changes nothing."
    example Problem "(define (problem p)\n  (:domain blocks)\n  (:objects a - block)\n  (:init (movable a) (movable a))\n  (:goal (clear a)))"
    so "Remove one of them.";
"pddl.derived-in-init" "a derived predicate in the initial state"
    means "A rule says where the predicate holds; planners differ on facts of it."
    example Problem "(define (problem p)\n  (:domain blocks)\n  (:objects a b - block)\n  (:init (movable a) (above a b))\n  (:goal (clear a)))"
    so "Give the facts that the rule builds on instead.";
"pddl.effect-on-type" "an effect on a type"
    means "The types of objects never change, so no effect can add or delete one."
    example Domain "(define (domain a)\n  (:requirements :typing)\n  (:types block)\n  (:predicates (p ?x - block))\n  (:action x :parameters (?x - block) :effect (and (p ?x) (not (block ?x)))))"
    so "Declare a predicate for what changes.";
"pddl.effect-on-derived" "an effect on a derived predicate"
    means "A rule says where the predicate holds; actions change what the rule builds on."
    example Domain "(define (domain a)\n  (:requirements :derived-predicates)\n  (:predicates (p) (q))\n  (:derived (q) (p))\n  (:action x :parameters () :effect (q)))"
    so "Change the predicates of the rule's condition.";
"pddl.missing-time" "a part of a durative action without its time"
    means "Conditions hold `at start`, `over all` or `at end`; effects happen `at start` or `at end`."
    example Domain "(define (domain a)\n  (:requirements :durative-actions)\n  (:predicates (p))\n  (:durative-action x :parameters () :duration (= ?duration 1) :condition (at start (p)) :effect (p)))"
    so "Say when: `(at end (p))`.";
"pddl.bad-duration" "a duration of another form"
    means "A duration is `(= ?duration EXPRESSION)` or inequalities of `?duration`."
    example Domain "(define (domain a)\n  (:requirements :durative-actions)\n  (:predicates (p))\n  (:durative-action x :parameters () :duration (p) :condition (at start (p)) :effect (at end (not (p)))))"
    so "Write `:duration (= ?duration 5)`.";
"pddl.wrong-domain" "the problem is for another domain"
    means "The name in `(:domain ...)` is not the domain's. Where most facts make no sense in this domain either, nothing else is reported."
    example Problem "(define (problem p)\n  (:domain logistics)\n  (:objects t - truck)\n  (:init (at t depot))\n  (:goal (at t home)))"
    so "Use the right domain, or correct the name.";
"pddl.unused-object" "objects are never mentioned"
    means "Neither the initial state nor the goal says anything of them."
    example Problem "(define (problem p)\n  (:domain blocks)\n  (:objects a b - block)\n  (:init (movable a))\n  (:goal (clear a)))"
    so "Check whether facts are missing.";
}

//! Texts that `planforge explain` prints for the codes of this crate.

use planforge_diagnostics::CodeInfo;

const fn code(code: &'static str, title: &'static str, explanation: &'static str) -> CodeInfo {
    CodeInfo { code, title, explanation }
}

/// Every diagnostic code of the crate.
pub const CODES: &[CodeInfo] = &[
    code(
        "class.no-action",
        "a reply without an action",
        "An action was asked for, and the reply holds no list that begins with (:action. Ask again, or show an example.",
    ),
    code(
        "class.parentheses",
        "an action whose parentheses do not match",
        "The action is closed too early, too late or never, so its parts cannot be told apart. Close every list, and the\n\
         action once, behind its effect.",
    ),
    code(
        "class.action-name",
        "an action of another name",
        "The action that was written has another name than the one that was asked for, so no plan can use it. Give it the\n\
         name that was asked for.",
    ),
    code(
        "class.negated-precondition",
        "a precondition that is negated",
        "Under the rule `negation`, the domain-generators paper's definition of a bad precondition, an action may not\n\
         require that an atom is false, whatever the domain declares.",
    ),
    code(
        "class.unguarded-delete",
        "an atom that is made false without being required",
        "Under the rule `unguarded-delete` every atom that the effect makes false is in the precondition. The planner of\n\
         the domain-generators paper's code stops at other deletes.",
    ),
    code(
        "planning.undefined",
        "a name that nothing declares",
        "A condition, effect, the initial state or the goal uses a predicate, function, type, object or variable that\n\
         neither the domain nor the problem declares, for example (on ?x ?z) in an action without a parameter ?z.\n\
         What the task means cannot be said then. Declare the name or correct its spelling.",
    ),
    code(
        "planning.arity",
        "too many or too few arguments",
        "An atom, function term or derived predicate's rule has a number of arguments other than its declaration, for\n\
         example (on ?x) where (on ?x ?y) is declared. Add or remove arguments.",
    ),
    code(
        "planning.derived-set",
        "a derived predicate is set directly",
        "A predicate that a (:derived ...) rule defines is also an effect of an action or stands in :init. Its truth\n\
         follows from the rule alone. Remove the effect or atom, or the rule.",
    ),
    code(
        "planning.not-stratifiable",
        "a derived predicate depends on its own negation",
        "The rules of derived predicates go in a circle through a negation, for example p from (not (q)) and q from (p):\n\
         no truth values satisfy them in general. Break the circle.",
    ),
    code(
        "planning.no-goal",
        "the problem has no goal",
        "The problem has no (:goal ...) that could be read, so every plan or none would do. Add the goal.",
    ),
    code(
        "planning.unsupported",
        "a construct that is read, but not executed",
        "Durative actions, timed initial literals, trajectory constraints and preferences are read but neither executed\n\
         nor planned for, and search does not handle numeric conditions. The answer is `unsupported`, never a verdict.\n\
         Use a tool that handles the construct, or a version of the task without it.",
    ),
    code(
        "planning.goal-unreachable",
        "a part of the goal that can never hold",
        "Even if no action ever made anything false (the delete relaxation), this part of the goal could not be reached.\n\
         So no plan exists. The reasons listed with it say what is missing.",
    ),
    code(
        "planning.missing-achiever",
        "what is missing on the way to the goal",
        "The first thing that keeps a part of the goal from being reachable: an atom that no action adds, or that only\n\
         actions add which are never applicable. Correct the initial state, an effect or a precondition.",
    ),
    code(
        "planning.never-applicable",
        "an action that is never applicable",
        "In the delete relaxation no ground action of the schema is ever applicable. Often an initial atom is missing, or\n\
         a precondition has its arguments in the wrong order.",
    ),
    code(
        "planning.never-added",
        "a predicate that is needed, but nothing adds it",
        "A precondition or the goal needs the predicate, no action adds it, and it never holds initially.",
    ),
    code(
        "plan.garbage",
        "a line that is no plan step",
        "A plan file has one step a line, `(action argument ...)`, perhaps with a time before it and a duration in brackets\n\
         after it, and comments from `;` on. Prose around a plan must be removed or commented out.",
    ),
    code(
        "plan.parenthesis",
        "a step without its closing parenthesis",
        "The step `(move a b` was taken to end with its line. Close it.",
    ),
    code(
        "plan.mixed-times",
        "some steps have a time and some have none",
        "With times on every step they are sorted by time; here the order of the lines was kept. Give all steps a time or\n\
         none.",
    ),
    code(
        "plan.limit",
        "a limit ended the validation",
        "A condition was not decided within the limits on time, memory and nodes, so the plan is neither valid nor invalid.\n\
         Raise the limits.",
    ),
    code(
        "plan.duration-ignored",
        "durations in a plan of a domain without durative actions",
        "The domain's actions are instantaneous, so the durations in brackets mean nothing and the steps are executed one\n\
         after the other.",
    ),
    code(
        "plan.unknown-action",
        "the domain has no such action",
        "A step names an action that the domain does not define. Correct the name; case does not matter.",
    ),
    code(
        "plan.arity",
        "a step with too many or too few arguments",
        "A step must name an object for each parameter of its action, in order.",
    ),
    code(
        "plan.unknown-object",
        "the task has no such object",
        "A step names an object that neither the problem nor the domain's constants declare.",
    ),
    code(
        "plan.type-mismatch",
        "an object of the wrong type in a step",
        "A step gives a parameter an object that is not of the parameter's type or a subtype. The plan is invalid.",
    ),
    code(
        "plan.precondition",
        "a step that is not applicable",
        "A condition of the step does not hold in the state it is to be executed in. The message says since which step the\n\
         atom is as it is, the second label where the condition stands, the help which actions could change it.",
    ),
    code(
        "plan.goal",
        "the goal does not hold at the end",
        "All steps are applicable, but this part of the goal does not hold in the last state.",
    ),
];

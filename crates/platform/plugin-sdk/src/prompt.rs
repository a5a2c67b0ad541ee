//! Prompts as templates: files of a plugin, filled with facts about a task. Inserted values are data and are
//! never read as templates.

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Error, UndefinedBehavior};
use planforge_contract::{Failure, FailureClass};
use serde::Serialize;

/// Compiled Jinja templates. A value that a template names and the caller does not give is an error, not an
/// empty text.
#[derive(Debug)]
pub struct Templates {
    environment: Environment<'static>,
    code: &'static str,
}

impl Templates {
    /// Compiles templates, given by name and source. `code` is the plugin's own for a template that does not compile or does not
    /// fit what it is filled with.
    ///
    /// # Errors
    /// Class `Plugin`, with that code: a source does not compile.
    pub fn new(code: &'static str, sources: &[(&'static str, &'static str)]) -> Result<Self, Failure> {
        Self::compile(Environment::new(), code, sources)
    }

    /// As [`Templates::new`], without the line end behind a `{% ... %}`.
    ///
    /// # Errors
    /// As [`Templates::new`].
    pub fn with_trimmed_blocks(
        code: &'static str,
        sources: &[(&'static str, &'static str)],
    ) -> Result<Self, Failure> {
        let mut environment = Environment::new();
        let syntax = SyntaxConfig::builder().trim_blocks(true).build();
        environment.set_syntax(syntax.map_err(|e| broken(code, "syntax", &e))?);
        Self::compile(environment, code, sources)
    }

    fn compile(
        mut environment: Environment<'static>,
        code: &'static str,
        sources: &[(&'static str, &'static str)],
    ) -> Result<Self, Failure> {
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        for (name, source) in sources {
            environment.add_template(name, source).map_err(|e| broken(code, name, &e))?;
        }
        Ok(Self { environment, code })
    }

    /// The text of the system turn: a plugin's option where it is set, else the template `system`.
    ///
    /// # Errors
    /// As [`Templates::render`].
    pub fn system<C: Serialize>(&self, own: Option<&str>, context: &C) -> Result<String, Failure> {
        match own {
            Some(text) => Ok(text.trim_end().to_owned()),
            None => self.render("system", context),
        }
    }

    /// Fills one, without the white space at its end.
    ///
    /// # Errors
    /// Class `Plugin`, with the code that was given: the template names what the context lacks, or there is none of that name.
    pub fn render<C: Serialize>(&self, name: &str, context: &C) -> Result<String, Failure> {
        let template = self.environment.get_template(name).map_err(|e| broken(self.code, name, &e))?;
        template
            .render(minijinja::value::Serde(context))
            .map(|text| text.trim_end().to_owned())
            .map_err(|e| broken(self.code, name, &e))
    }
}

fn broken(code: &str, name: &str, error: &Error) -> Failure {
    let message = format!("the prompt template `{name}` cannot be rendered: {error:#}");
    Failure::new(FailureClass::Plugin, code, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    const SOURCES: [(&str, &str); 2] =
        [("ask", "{% if true %}\n{{ text }}\n{% endif %}\n"), ("bare", "{{ lost }}")];

    #[test]
    fn what_is_inserted_is_never_read_as_a_template() {
        let context = BTreeMap::from([("text", "{{ lost }} & <b>")]);
        let plain = Templates::new("t.t", &SOURCES).unwrap();
        assert_eq!(plain.render("ask", &context).unwrap(), "\n{{ lost }} & <b>");
        let trimmed = Templates::with_trimmed_blocks("t.t", &SOURCES).unwrap();
        assert_eq!(trimmed.render("ask", &context).unwrap(), "{{ lost }} & <b>");
    }

    #[test]
    fn a_template_that_does_not_fit_is_the_plugin_s_failure() {
        let plain = Templates::new("t.t", &SOURCES).unwrap();
        for name in ["bare", "none"] {
            let failure = plain.render(name, &()).unwrap_err();
            assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Plugin, "t.t"));
            assert!(failure.message.contains(name), "{}", failure.message);
        }
        assert_eq!(Templates::new("t.t", &[("open", "{% if")]).unwrap_err().code, "t.t");
    }
}

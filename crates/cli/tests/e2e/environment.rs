//! `planforge environment check` on programs of a few words.

use crate::support::{example, ran};

/// A light: `(on)` and `(off)`. Needs nothing but a shell.
const LIGHT: &str = r#"
n=0
say() { printf '{"id":%s,"result":%s}\n' "$id" "$1"; }
try() { case $1,$n in '"(on)",0') n=1; why= ;; '"(off)",1') n=0; why= ;; *) why='no' ;; esac; }
while IFS= read -r line; do
  id=${line#*\"id\":}; id=${id%%,*}; m=${line#*\"method\":\"}; m=${m%%\"*}
  case $m in
    describe) say '{"protocol":1,"methods":["step","actions"],"actions":[{"name":"on"},{"name":"off"}]}' ;;
    reset) n=0; say '{}' ;;
    actions) if [ $n = 0 ]; then say '{"actions":["(on)"]}'; else say '{"actions":["(off)"]}'; fi ;;
    step) a=${line#*\"action\":}; try "${a%\}}"
      if [ -z "$why" ]; then say '{"executed":true}'; else say '{"executed":false,"refusal":"no"}'; fi ;;
    validate) n=0; done=0; why=; p=${line#*\"plan\":\[}; IFS=,
      for a in ${p%%\]*}; do try "$a"; [ -n "$why" ] && break; done=$((done+1)); done
      v=false; [ -z "$why" ] && [ $n = 1 ] && v=true; say "{\"valid\":$v,\"executed\":$done}"; unset IFS ;;
  esac
done
"#;

fn check(script: &str, more: &[&str]) -> crate::support::Ran {
    let mut args = vec!["environment", "check"];
    args.extend(more);
    args.extend(["--", "/bin/sh", "-c", script]);
    ran(args)
}

#[test]
fn a_program_is_checked_and_every_outcome_has_its_exit_code() {
    let good = check(LIGHT, &[]);
    good.expect(0);
    for part in ["pass  describe is answered", "the program keeps to the protocol", "one answer: reset"] {
        assert!(good.stdout.contains(part), "{}", good.stdout);
    }
    let task = example("jugs", "p02");
    let json = check(LIGHT, &["--json", "--task", task.to_str().unwrap()]).json(0);
    assert_eq!(json["conforms"], true);
    assert!(json["checks"].as_array().unwrap().len() > 8 && json["start_ms"].as_f64().unwrap() > 0.0);
    // A reset that does not reset.
    let bad = check(&LIGHT.replace("reset) n=0;", "reset)"), &[]);
    bad.expect(10);
    assert!(
        bad.stdout.contains("FAIL") && bad.stdout.contains("does not keep to the protocol"),
        "{}",
        bad.stdout
    );
    let hanging = check("sleep 60", &["--start-timeout", "0.2"]);
    hanging.expect(10);
    assert!(hanging.stdout.contains("did not answer within 0.2 s and was killed"), "{}", hanging.stdout);
    let absent = ran(["environment", "check", "--", "/nowhere/program"]);
    absent.expect(36);
    assert!(absent.stderr.contains("/nowhere/program does not exist"), "{}", absent.stderr);
    ran(["environment", "check"]).expect(30);
    ran(["environment", "check", "--task", "/nowhere/p01", "--", "true"]).expect(31);
}

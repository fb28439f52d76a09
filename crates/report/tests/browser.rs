//! The HTML report in a real browser, driven as a reader would: the page is given a second script that clicks, steps and
//! filters, and leaves what it saw in the document. Says `skipped` where no Chromium is installed; in CI it fails there.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::{common, examples};
use ravel_analysis::finding::{Lane, LockLane, Recording, Rule};
use ravel_report::{Format, Options, render};
use serde_json::Value;

/// No page takes longer than this; a browser that hangs must not hang the tests.
const PATIENCE: Duration = Duration::from_secs(60);

fn chromium() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    ravel_testing::program(&names, "the HTML report is not tried in a browser")
}

/// What the reader's browser prefers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Scheme {
    Light,
    Dark,
}

/// Loads the page, runs `script` in it, and gives back what the script returned.
fn drive(chromium: &Path, page: &str, script: &str) -> Value {
    drive_in(chromium, page, script, Scheme::Light)
}

fn drive_in(chromium: &Path, page: &str, script: &str, scheme: Scheme) -> Value {
    let watch = "<script>window.problems = [];\
        addEventListener('error', (e) => problems.push(String(e.message)));\
        addEventListener('securitypolicyviolation', (e) => problems.push('blocked ' + e.blockedURI));\
        console.error = (...a) => problems.push(a.join(' '));</script>";
    let probe = format!(
        "<script>(() => {{ let result; try {{ result = (() => {{ {script} }})(); }} catch (e) {{ result = {{ thrown: String(e) }}; }}\
         const out = document.createElement('textarea'); out.id = 'probe';\
         out.textContent = JSON.stringify({{ result, problems, requests: performance.getEntriesByType('resource').length }});\
         document.body.append(out); }})();</script>"
    );
    let page = page
        .replacen("<head>", &format!("<head>{watch}"), 1)
        .replacen("</body>", &format!("{probe}</body>"), 1);
    let seen = load(chromium, &page, scheme);
    assert_eq!(seen["problems"], serde_json::json!([]), "no error reaches the console");
    assert_eq!(seen["requests"], 0, "no request leaves the page");
    assert!(seen["result"].get("thrown").is_none(), "{}", seen["result"]);
    seen["result"].clone()
}

/// Loads the page in a frame as wide as a phone and gives back what the script, which gets the frame's window as `w`,
/// returned.
fn drive_on_phone(chromium: &Path, page: &str, script: &str) -> Value {
    drive_at(chromium, page, (360, 640), script)
}

/// Loads the page in a frame of this width and height. A window of a browser cannot be made as narrow as a phone, and one without a head
/// takes part of its height for bars that are not drawn.
fn drive_at(chromium: &Path, page: &str, (width, height): (u32, u32), script: &str) -> Value {
    let inner = page.replace('&', "&amp;").replace('"', "&quot;");
    let outer = format!(
        "<!doctype html><body><iframe id=\"phone\" style=\"width:{width}px;height:{height}px;border:0\" srcdoc=\"{inner}\"></iframe>\
         <script>document.getElementById('phone').onload = (e) => {{ const w = e.target.contentWindow; let result;\
         try {{ result = (() => {{ {script} }})(); }} catch (e) {{ result = {{ thrown: String(e) }}; }}\
         const out = document.createElement('textarea'); out.id = 'probe'; out.textContent = JSON.stringify(result);\
         document.body.append(out); }};</script></body>"
    );
    let seen = load(chromium, &outer, Scheme::Light);
    assert!(seen.get("thrown").is_none(), "{seen}");
    seen
}

/// Loads a page, and gives back what its probe left. One browser at a time, and a second try: on a busy machine several
/// at once die of each other.
fn load(chromium: &Path, page: &str, scheme: Scheme) -> Value {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let probe = dump(chromium, page, scheme).or_else(|| dump(chromium, page, scheme));
    let probe = probe.expect("the probe ran");
    serde_json::from_str(&probe).unwrap_or_else(|e| panic!("{e}: {probe}"))
}

fn dump(chromium: &Path, page: &str, scheme: Scheme) -> Option<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("report.html");
    std::fs::write(&file, page).expect("the page is written");
    let mut child = Command::new(chromium)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
        ])
        .args([
            "--disable-component-update",
            "--disable-sync",
            "--dump-dom",
            "--virtual-time-budget=3000",
        ])
        .arg(match scheme {
            Scheme::Dark => "--blink-settings=preferredColorScheme=0",
            Scheme::Light => "--blink-settings=preferredColorScheme=1",
        })
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(format!("file://{}", file.display()))
        .stdout(Stdio::from(
            std::fs::File::create(folder.path().join("dom")).expect("a file"),
        ))
        .stderr(Stdio::null())
        .spawn()
        .expect("Chromium starts");
    let begun = Instant::now();
    while child.try_wait().expect("its state is known").is_none() {
        if begun.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            panic!("Chromium took longer than {PATIENCE:?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let dom = std::fs::read_to_string(folder.path().join("dom")).expect("a document");
    let probe = dom.rsplit_once("<textarea id=\"probe\">")?.1;
    let probe = probe.split_once("</textarea>")?.0;
    Some(
        probe
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&nbsp;", "\u{a0}")
            .replace("&amp;", "&"),
    )
}

/// A report with everything that a page can show: a recording, findings of all kinds, one that got no further.
fn whole_report() -> ravel_analysis::finding::Report {
    let mut report = common::report("mixed");
    report.findings[3].limit = Some("the run left the schedule: t2 was expected".into());
    let lane = |thread: &str| Lane {
        thread: thread.to_owned(),
        cells: vec![10, 0, 5],
    };
    let moments = (0..report.findings[0].steps.len() as u64).collect();
    report.recordings = vec![Recording {
        trace: "t.ravel".to_owned(),
        events: 60,
        cell: 20,
        lanes: vec![lane("main"), lane("t1"), lane("t2")],
        locks: vec![LockLane {
            lock: "shop.Stock@1".to_owned(),
            holds: vec![("t1".to_owned(), 3, 9), ("t2".to_owned(), 12, 30)],
            until: Some(50),
        }],
        more_threads: 0,
        moments: [(report.findings[0].id.clone(), moments)].into(),
    }];
    report
}

/// Opens every finding, the held back ones too, in the document `d`.
const OPEN_ALL: &str = "
    const held = d.querySelector('.filters').elements.namedItem('held');
    held.checked = true; held.dispatchEvent(new Event('input', { bubbles: true }));
    for (const row of d.querySelectorAll('.finding')) { row.open = true; row.dispatchEvent(new Event('toggle')); }
    for (const inner of d.querySelectorAll('.finding details')) inner.open = true;";

#[test]
fn a_screen_reader_and_a_keyboard_reach_everything() {
    let Some(chromium) = chromium() else { return };
    let sources = common::sources();
    let page = render(&whole_report(), Format::Html, &Options::new(&sources));
    let script = format!(
        r#"const d = document; {OPEN_ALL}
        const all = (selector) => [...d.querySelectorAll(selector)];
        const name = (n) => n.getAttribute('aria-label') || (n.closest('label') || n).textContent.trim();
        const focusable = all('a[href], button, input, select, summary, [tabindex]').filter((n) => n.tabIndex >= 0 && n.checkVisibility());
        const ids = all('[id]').map((n) => n.id);
        return {{
          lang: d.documentElement.lang, title: d.title,
          headings: all('h1, h2, h3').map((h) => Number(h.tagName[1])),
          landmarks: ['header', 'main', 'form[role=search]'].map((s) => all(s).length),
          unnamed: focusable.filter((n) => !name(n)).map((n) => n.outerHTML.slice(0, 80)),
          drawings: all('svg').filter((n) => n.getAttribute('aria-hidden') !== 'true' && !(n.getAttribute('role') === 'img' && n.getAttribute('aria-label'))).length,
          tables: all('table').filter((n) => !n.closest('[aria-label]')).length,
          live: all('[aria-live]').length > 1,
          jumps: all('[tabindex]').filter((n) => n.tabIndex > 0).length,
          twice: ids.filter((id, at) => ids.indexOf(id) !== at),
          order: focusable.slice(0, 14).map((n) => n.tagName.toLowerCase() + ' ' + name(n).slice(0, 20)),
          scrolled: all('.window, .source').filter((n) => n.tabIndex < 0).length,
          limits: all('.limit').map((n) => n.textContent),
        }};"#
    );
    let seen = drive(&chromium, &page, &script);
    assert_eq!(seen["lang"], "en");
    let headings: Vec<u64> = seen["headings"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(Value::as_u64)
        .collect();
    assert_eq!(headings.iter().filter(|level| **level == 1).count(), 1);
    assert!(
        headings.windows(2).all(|pair| pair[1] <= pair[0] + 1),
        "no level is left out: {headings:?}"
    );
    assert_eq!(seen["landmarks"], serde_json::json!([1, 1, 1]));
    assert_eq!(seen["unnamed"], serde_json::json!([]));
    for none in ["drawings", "tables", "jumps", "scrolled"] {
        assert_eq!(seen[none], 0, "{none}");
    }
    assert_eq!(seen["live"], true, "changes are said");
    assert_eq!(seen["twice"], serde_json::json!([]), "an id is there once");
    let order: Vec<&str> = seen["order"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let place = |start: &str| {
        order
            .iter()
            .position(|n| n.starts_with(start))
            .unwrap_or_else(|| panic!("{start}: {order:?}"))
    };
    assert_eq!(place("a Skip to the findings"), 0);
    assert!(place("select Evidence") < place("input Search"), "{order:?}");
    assert!(
        place("input Search") < place("summary harmful"),
        "filters come before the findings: {order:?}"
    );
    assert_eq!(
        seen["limits"],
        serde_json::json!(["the run left the schedule: t2 was expected"]),
        "why a finding got no further is on the page"
    );
}

/// The least contrast of text that has a certain size (WCAG 2, level AA).
#[test]
fn text_stands_out_in_light_and_dark() {
    let Some(chromium) = chromium() else { return };
    let sources = common::sources();
    let page = render(&whole_report(), Format::Html, &Options::new(&sources));
    let script = format!(
        r#"const d = document; {OPEN_ALL}
        const parse = (c) => (c.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
        const light = (c) => {{ const [r, g, b] = c.slice(0, 3).map((v) => {{ v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }}); return 0.2126 * r + 0.7152 * g + 0.0722 * b; }};
        const behind = (n) => {{ for (; n; n = n.parentElement) {{ const c = parse(getComputedStyle(n).backgroundColor); if (c.length < 4 || c[3] > 0.99) return c; }} return [255, 255, 255]; }};
        const bad = [];
        let looked = 0;
        for (const n of d.querySelectorAll('body *')) {{
          const own = [...n.childNodes].some((c) => c.nodeType === 3 && c.textContent.trim());
          if (!own || !n.checkVisibility() || n.closest('script, title, [hidden], option') || n.disabled) continue;
          const style = getComputedStyle(n);
          const ink = parse(n.namespaceURI.endsWith('svg') ? style.fill : style.color);
          const [a, b] = [light(ink), light(behind(n))].sort((x, y) => y - x);
          const ratio = (a + 0.05) / (b + 0.05);
          const size = parseFloat(style.fontSize);
          const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
          looked += 1;
          if (ratio < (large ? 3 : 4.5)) bad.push(`${{ratio.toFixed(2)}} ${{n.tagName}}.${{n.getAttribute('class')}} ${{n.textContent.trim().slice(0, 30)}}`);
        }}
        return {{ dark: matchMedia('(prefers-color-scheme: dark)').matches, looked, bad: [...new Set(bad)] }};"#
    );
    for scheme in [Scheme::Light, Scheme::Dark] {
        let seen = drive_in(&chromium, &page, &script, scheme);
        assert_eq!(seen["dark"], scheme == Scheme::Dark);
        assert!(seen["looked"].as_u64().expect("a number") > 100, "{seen}");
        assert_eq!(seen["bad"], serde_json::json!([]), "{scheme:?}");
    }
}

#[test]
fn a_phone_needs_no_scrolling_sideways() {
    let Some(chromium) = chromium() else { return };
    let sources = common::sources();
    let page = render(&whole_report(), Format::Html, &Options::new(&sources));
    let script = format!(
        "const d = w.document; {OPEN_ALL}
         const wide = [...d.querySelectorAll('body *')].filter((n) => n.checkVisibility() && !n.closest('.window, .source, .turns, pre, .unseen, .skip')
           && n.getBoundingClientRect().right > w.innerWidth + 1).map((n) => n.tagName + '.' + n.getAttribute('class'));
         return {{ width: w.innerWidth, page: d.documentElement.scrollWidth, wide: [...new Set(wide)],
           small: [...d.querySelectorAll('button, select, input[type=search]')].filter((n) => n.checkVisibility() && n.getBoundingClientRect().height < 24).length }};"
    );
    let seen = drive_on_phone(&chromium, &page, &script);
    assert_eq!(seen["width"], 360);
    assert!(seen["page"].as_u64().is_some_and(|page| page <= 360), "{seen}");
    assert_eq!(seen["wide"], serde_json::json!([]));
    assert_eq!(seen["small"], 0, "controls are large enough for a finger");
}

/// The rules for paper, put in force on the screen.
#[test]
fn paper_shows_the_details_and_no_controls() {
    let Some(chromium) = chromium() else { return };
    let sources = common::sources();
    let page = render(&whole_report(), Format::Html, &Options::new(&sources));
    let seen = drive_in(
        &chromium,
        &page,
        r#"
        const print = [...document.styleSheets].flatMap((s) => [...s.cssRules]).filter((r) => r.media && r.media.mediaText === 'print');
        const style = document.createElement('style');
        style.textContent = print.flatMap((r) => [...r.cssRules]).map((r) => r.cssText).join(' ');
        document.head.append(style);
        dispatchEvent(new Event('beforeprint'));
        const shown = [...document.querySelectorAll('.finding')].filter((r) => !r.hidden);
        return {
          rules: print.length,
          controls: [...document.querySelectorAll('.filters, .player, button:not(.card), .skip')].filter((n) => n.checkVisibility()).length,
          open: shown.every((r) => r.open && r.querySelector('.body .lanes .step') && r.querySelector('.body .facts')), count: shown.length,
          cut: [...document.querySelectorAll('.window, .source')].filter((n) => getComputedStyle(n).overflowX !== 'visible').length,
          page: getComputedStyle(document.body).backgroundColor,
          bad: getComputedStyle(document.querySelector('.harmful .badge')).color,
        };"#,
        Scheme::Dark,
    );
    assert_eq!(seen["rules"], 1);
    assert_eq!((&seen["controls"], &seen["cut"]), (&Value::from(0), &Value::from(0)));
    assert_eq!((&seen["open"], &seen["count"]), (&Value::from(true), &Value::from(3)));
    assert_eq!(
        seen["page"], "rgb(255, 255, 255)",
        "paper is white, whatever the screen was"
    );
    assert_eq!(seen["bad"], "rgb(179, 32, 44)", "and its colours are those for white");
}

#[test]
fn a_reader_can_open_step_and_filter() {
    let Some(chromium) = chromium() else { return };
    let sources = common::sources();
    let page = render(&common::report("mixed"), Format::Html, &Options::new(&sources));
    let seen = drive(
        &chromium,
        &page,
        r#"
        const visible = () => [...document.querySelectorAll('.finding')].filter((r) => !r.hidden).map((r) => r.id);
        const set = (name, value) => {
          const control = document.querySelector('.filters').elements.namedItem(name);
          if (control.type === 'checkbox') control.checked = value; else control.value = value;
          control.dispatchEvent(new Event('input', { bubbles: true }));
        };
        const seen = { first: visible() };
        set('held', true); seen.all = visible();
        set('evidence', 'predicted'); seen.predicted = visible(); set('evidence', '');
        set('rule', 'data-race'); seen.races = visible(); set('rule', '');
        set('package', 'cache'); seen.cache = visible(); set('package', '');
        set('thread', 'setter'); seen.setter = visible(); set('thread', '');
        set('text', 'Range.contains'); seen.text = visible();
        set('text', 'no such thing'); seen.none = visible();
        seen.nothing = !document.querySelector('.none').hidden;
        set('text', ''); seen.count = document.querySelector('output').value;

        const row = document.getElementById('a1b2c3d4');
        seen.open = row.open && row.querySelector('.body') !== null;
        seen.lazy = document.getElementById('0c9d8e7f').querySelector('.body') === null;
        const said = () => row.querySelector('.said').textContent;
        const slider = row.querySelector('input[type=range]');
        seen.last = said();
        slider.value = '1'; slider.dispatchEvent(new Event('input'));
        seen.step1 = said();
        seen.later1 = row.querySelectorAll('.step.later').length;
        row.querySelector('.next').click();
        document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true, cancelable: true }));
        seen.step3 = said();
        seen.line = row.querySelector('.source tr.now td.n').textContent;
        seen.now = row.querySelector('.step.now').textContent;
        document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowLeft', bubbles: true, cancelable: true }));
        seen.step2 = said();
        const lanes = [...row.querySelectorAll('.lanes .step')];
        seen.columns = lanes.map((n) => n.style.gridColumn);
        seen.code = lanes.map((n) => [...n.querySelectorAll('.line')].map((l) => l.textContent));
        seen.notes = [...row.querySelectorAll('.lanes .note')].map((t) => t.textContent);
        seen.gap = row.querySelector('.gap.bad').textContent;
        seen.cards = [...row.querySelectorAll('.card')].map((o) => o.textContent.trim());
        seen.end = row.querySelector('.lanes > .end.bad').textContent;
        seen.outcome = row.querySelector('.outcome.bad').textContent;
        seen.colours = row.querySelectorAll('.lanes code .k').length > 0 && row.querySelectorAll('.lanes code .touched').length > 0;
        seen.folded = [...row.querySelectorAll('.fold')].map((f) => f.open);
        seen.decisive = row.querySelectorAll('.lanes .decisive').length;
        seen.stacks = row.querySelectorAll('ol.steps details').length;
        seen.replay = row.querySelector('.command code').textContent;
        seen.unnamed = [...row.querySelectorAll('input, select, button')].filter((n) => !n.getAttribute('aria-label') && !n.textContent && !n.closest('label')).length;
        return seen;
        "#,
    );
    let ids = |key: &str| {
        seen[key]
            .as_array()
            .map(|a| a.iter().filter_map(Value::as_str).collect::<Vec<_>>())
    };
    assert_eq!(
        ids("first"),
        Some(vec!["a1b2c3d4", "0c9d8e7f", "7be1d0c4"]),
        "what is held back is hidden"
    );
    assert_eq!(ids("all").map(|a| a.len()), Some(6));
    assert_eq!(
        ids("predicted"),
        Some(vec!["a1b2c3d4", "0c9d8e7f", "7be1d0c4", "33334444"])
    );
    assert_eq!(ids("races"), Some(vec!["7be1d0c4", "33334444"]));
    assert_eq!(ids("cache"), Some(vec!["11112222", "33334444", "55556666"]));
    assert_eq!(ids("setter"), Some(vec!["0c9d8e7f"]));
    assert_eq!(ids("text"), Some(vec!["0c9d8e7f"]));
    assert_eq!(ids("none"), Some(vec![]));
    assert_eq!(seen["nothing"], true);
    assert_eq!(seen["count"], "6 of 6 findings");
    assert_eq!(seen["open"], true, "the worst finding is open");
    assert_eq!(seen["lazy"], true, "details of others are made when they are opened");
    assert_eq!(
        seen["last"],
        "Step 4 of 4: t1 reads items at Stock.java:13 in Stock.remove(int), holding Stock@1."
    );
    assert_eq!(
        seen["step1"],
        "Step 1 of 4: t1 reads items at Stock.java:9 in Stock.count(), holding Stock@1."
    );
    assert_eq!(seen["later1"], 3, "steps to come are dimmed");
    assert_eq!(
        seen["step3"],
        "Step 3 of 4: t2 writes items at Stock.java:16 in Stock.remove(int), holding Stock@1. This is the decisive step."
    );
    assert_eq!(seen["line"], "16", "the source follows the steps");
    assert!(seen["now"].as_str().expect("a step").contains("writes items"), "{seen}");
    assert!(
        seen["step2"].as_str().expect("a step").starts_with("Step 2 of 4"),
        "{seen}"
    );
    assert_eq!(
        seen["columns"],
        serde_json::json!(["1", "2", "2", "1"]),
        "a column for each thread"
    );
    assert_eq!(
        seen["code"][2],
        serde_json::json!(["21remove(n);", "16items -= n;"]),
        "the line of the unit that calls, and the line that the step executes"
    );
    assert_eq!(
        seen["notes"],
        serde_json::json!(["changes what t1 read", "sees what t2 wrote"])
    );
    assert_eq!(seen["gap"], "t2 cuts in here");
    assert_eq!(
        seen["cards"],
        serde_json::json!([
            "The order that breaks itt1: reads itemst2: reads items, writes itemst1: reads items✖ uncaught exception in t1",
            "Serial: t1, then t2t1: Stock.take(int)t2: Stock.take(int)✔ no such outcome",
            "Serial: t2, then t1t2: Stock.take(int)t1: Stock.take(int)✔ no such outcome"
        ])
    );
    assert_eq!(seen["end"], "✖ uncaught exception in t1");
    assert!(
        seen["outcome"].as_str().expect("an outcome").contains("only 0 left"),
        "{seen}"
    );
    assert_eq!(seen["colours"], true, "code is coloured, and the variable is marked");
    assert_eq!(
        seen["folded"],
        serde_json::json!([true, false]),
        "source is open, statistics are not"
    );
    assert_eq!(seen["decisive"], 1);
    assert_eq!(seen["stacks"], 4);
    assert_eq!(seen["replay"], "ravel replay t.ravel a1b2c3d4");
    assert_eq!(seen["unnamed"], 0, "a screen reader can name every control");
}

#[test]
fn the_first_screen_has_the_sentence_the_threads_and_the_outcome() {
    let Some(chromium) = chromium() else { return };
    let sources = common::sources();
    let page = render(&common::report("atomicity"), Format::Html, &Options::new(&sources));
    let script = "const d = w.document; const row = d.querySelector('.finding');\
        const bottom = (n) => Math.ceil(n.getBoundingClientRect().bottom);\
        const right = (n) => Math.ceil(n.getBoundingClientRect().right);\
        const of = { sentence: row.querySelector('.sentence'), outcome: row.querySelector('.outcome.bad'), lanes: row.querySelector('.lanes'),\
          decisive: row.querySelector('.lanes .decisive') };\
        return { open: row.open, width: w.innerWidth, height: w.innerHeight,\
          bottoms: Object.fromEntries(Object.entries(of).map(([name, n]) => [name, bottom(n)])),\
          rights: Object.values(of).map(right), scrolls: d.documentElement.scrollWidth - w.innerWidth };";
    // On a phone the threads are below each other, and four steps are more than a screen: there the step that decides is on it.
    for (size, threads) in [((1280, 900), "lanes"), ((390, 844), "decisive")] {
        let seen = drive_at(&chromium, &page, size, script);
        assert_eq!(seen["open"], true, "{seen}");
        assert_eq!((&seen["width"], &seen["height"]), (&size.0.into(), &size.1.into()));
        for part in ["sentence", "outcome", threads] {
            let at = seen["bottoms"][part].as_u64().expect("a place");
            assert!(
                at <= size.1.into(),
                "{part} is below the first screen of {size:?}: {seen}"
            );
        }
        let rights = seen["rights"].as_array().expect("places");
        assert!(
            rights.iter().all(|right| right.as_u64() <= Some(size.0.into())),
            "{size:?}: {seen}"
        );
        assert!(
            seen["scrolls"].as_i64() <= Some(0),
            "{size:?} needs no sideways scrolling: {seen}"
        );
    }
}

/// Of each rule that a run shows: the sample of `docs/examples`, on a phone.
#[test]
fn a_phone_shows_the_threads_of_every_sample_on_its_first_screen() {
    let Some(chromium) = chromium() else { return };
    let sources = examples::sources();
    let script = "const d = w.document; const row = d.querySelector('.finding');\
        const bottom = (n) => n ? Math.ceil(n.getBoundingClientRect().bottom) : 0;\
        const fix = row.querySelector('.fix');\
        return { lanes: bottom(row.querySelector('.lanes')), second: bottom(row.querySelectorAll('.lanes .step')[1]), steps: row.querySelectorAll('.lanes .step').length, outcome: bottom(row.querySelector('.outcome')),\
          fix: !fix || fix.getBoundingClientRect().top >= bottom(row.querySelector('.lanes')),\
          scrolls: d.documentElement.scrollWidth - w.innerWidth };";
    for &rule in Rule::ALL {
        let report = examples::example(rule);
        if report.summary.events == 0 {
            continue;
        }
        let page = render(&report, Format::Html, &Options::new(&sources));
        let seen = drive_at(&chromium, &page, (390, 844), script);
        let part = match seen["steps"].as_u64() {
            Some(0..=4) => "lanes",
            _ => "second",
        };
        for part in [part, "outcome"] {
            assert!(seen[part].as_u64() <= Some(844), "{part} of {rule:?}: {seen}");
        }
        assert_eq!(seen["fix"], true, "the fix of {rule:?} is below the threads");
        assert!(seen["scrolls"].as_i64() <= Some(0), "{rule:?}: {seen}");
    }
}

#[test]
fn a_deadlock_shows_who_waits_for_whom() {
    let Some(chromium) = chromium() else { return };
    let sources = common::sources();
    let page = render(&common::report("lock-order"), Format::Html, &Options::new(&sources));
    let seen = drive(
        &chromium,
        &page,
        "const row = document.querySelector('.finding'); row.dispatchEvent(new Event('toggle'));\
         return { open: row.open, notes: [...row.querySelectorAll('.lanes .note')].map((t) => t.textContent),\
           locks: [...row.querySelectorAll('.gap')].map((t) => t.textContent), orders: row.querySelectorAll('.orders').length,\
           filters: document.querySelector('.filters').checkVisibility() };",
    );
    assert_eq!(seen["open"], true, "the only finding is open");
    assert_eq!(
        seen["notes"],
        serde_json::json!(["transfer-2 holds it", "transfer-1 holds it"])
    );
    assert_eq!(
        seen["locks"].as_array().map(Vec::len),
        Some(2),
        "each thread keeps its first lock to the end: {seen}"
    );
    assert_eq!(seen["orders"], 0, "a deadlock has no serial order to compare with");
    assert_eq!(seen["filters"], false, "one finding needs no filter");
}

#[test]
fn the_recording_is_drawn_and_leads_to_the_findings() {
    let Some(chromium) = chromium() else { return };
    let sources = common::sources();
    let mut report = common::report("atomicity");
    let finding = &report.findings[0];
    let (id, steps) = (finding.id.clone(), finding.steps.len() as u64);
    // Recorded with t2 first, then t1: an order that is neither the broken one nor t1 first.
    let of = |thread: &str| {
        (0..steps)
            .filter(|i| finding.steps[*i as usize].thread == thread)
            .collect::<Vec<u64>>()
    };
    let mut moments = vec![0; steps as usize];
    for (at, step) in of("t2").into_iter().chain(of("t1")).enumerate() {
        moments[step as usize] = 10 * at as u64;
    }
    let lane = |thread: &str, cells: &[u64]| Lane {
        thread: thread.to_owned(),
        cells: cells.to_vec(),
    };
    report.recordings = vec![Recording {
        trace: "t.ravel".to_owned(),
        events: 60,
        cell: 20,
        lanes: vec![
            lane("main", &[10, 0, 5]),
            lane("t1", &[0, 10, 15]),
            lane("t2", &[10, 10, 0]),
        ],
        locks: vec![LockLane {
            lock: "shop.Stock@1".to_owned(),
            holds: vec![("t2".to_owned(), 0, 11), ("t1".to_owned(), 30, 59)],
            until: None,
        }],
        more_threads: 3,
        moments: [(id, moments)].into(),
    }];
    let page = render(&report, Format::Html, &Options::new(&sources));
    let seen = drive(
        &chromium,
        &page,
        r#"
        const row = document.querySelector('.finding'); row.dispatchEvent(new Event('toggle'));
        const marks = [...document.querySelectorAll('.mark')];
        return {
          visible: document.querySelector('#timeline').checkVisibility(),
          folded: !document.querySelector('#timeline details').open,
          names: [...document.querySelectorAll('.threads .name')].map((n) => n.textContent),
          hues: [...document.querySelectorAll('.track:not(.lock)')].map((n) => n.style.getPropertyValue('--c')),
          held: [...document.querySelectorAll('.track.lock span')].map((n) => [n.style.left, n.style.width, n.style.getPropertyValue('--c')].join(' ')),
          ticks: [...document.querySelectorAll('.axis span')].map((n) => n.textContent),
          zoomed: (() => { document.querySelector('[aria-label="Zoom in"]').click(); return document.querySelector('.plot').style.width + ' ' + document.querySelectorAll('.plot .axis span').length; })(),
          bars: [...document.querySelectorAll('.track path')].map((p) => (p.getAttribute('d').match(/M/g) || []).length),
          marks: marks.map((m) => m.textContent), to: marks[0].getAttribute('href').slice(1) === row.id,
          on: marks.every((m) => m.classList.contains('on')),
          inside: marks.every((m) => parseFloat(m.style.left) > 0 && parseFloat(m.style.left) < 100),
          note: document.querySelector('.recording p').textContent,
          orders: [...row.querySelectorAll('.card strong')].map((o) => o.textContent.trim()),
          recorded: (() => { row.querySelector('.card.recorded').click(); return row.querySelector('.interleaving h3').textContent + ': ' + row.querySelector('.said').textContent; })(),
        };
        "#,
    );
    assert_eq!(seen["visible"], true);
    assert_eq!(seen["folded"], true, "the recording is below, folded");
    assert_eq!(
        seen["names"],
        serde_json::json!(["main", "t1", "t2", "lock Stock@1", "event"])
    );
    assert_eq!(
        seen["hues"],
        serde_json::json!(["var(--soft)", "var(--t0)", "var(--t1)"]),
        "threads of findings have their colours"
    );
    assert_eq!(
        seen["held"],
        serde_json::json!(["0% 20% var(--t1)", "50% 50% var(--t0)"]),
        "who held the lock from which event to which"
    );
    assert_eq!(seen["ticks"], serde_json::json!(["1", "13", "25", "37", "49"]));
    assert_eq!(seen["zoomed"], "200% 10");
    assert_eq!(
        seen["bars"],
        serde_json::json!([2, 2, 2]),
        "a bar where there are events"
    );
    assert_eq!(seen["marks"].as_array().map(Vec::len), Some(steps as usize));
    assert_eq!(
        (&seen["to"], &seen["on"], &seen["inside"]),
        (&Value::Bool(true), &Value::Bool(true), &Value::Bool(true))
    );
    assert!(
        seen["note"].as_str().expect("a note").contains("3 less busy threads"),
        "{seen}"
    );
    assert_eq!(
        seen["orders"],
        serde_json::json!([
            "The order that breaks it",
            "As recorded",
            "Serial: t1, then t2",
            "Serial: t2, then t1"
        ])
    );
    assert!(
        seen["recorded"]
            .as_str()
            .expect("words")
            .starts_with("The recorded run: Step 1 of 4: t2 reads items"),
        "{seen}"
    );
}

#[test]
fn hostile_text_stays_text() {
    let Some(chromium) = chromium() else { return };
    let sources = common::sources();
    let mut report = common::report("atomicity");
    let hostile = "</script><script>problems.push('ran')</script><img src=x onerror=\"problems.push('ran')\">";
    report.program = hostile.to_owned();
    let finding = &mut report.findings[0];
    finding.message = hostile.to_owned();
    finding.help = hostile.to_owned();
    finding.replay = hostile.to_owned();
    finding.steps[0].thread = hostile.to_owned();
    finding.steps[0].stack[0] = hostile.to_owned();
    let page = render(&report, Format::Html, &Options::new(&sources));
    let seen = drive(
        &chromium,
        &page,
        "const row = document.querySelector('.finding'); row.dispatchEvent(new Event('toggle'));\
         return { images: document.images.length, code: row.querySelector('.command code').textContent };",
    );
    assert_eq!(seen["images"], 0);
    assert_eq!(seen["code"], hostile);
}

#[test]
fn a_thousand_findings_stay_fast() {
    let Some(chromium) = chromium() else { return };
    let sources = common::sources();
    let mut report = common::report("mixed");
    let some = report.findings.clone();
    report.findings = (0..1000)
        .map(|n| {
            let mut finding = some[n % some.len()].clone();
            finding.id = format!("{n:08x}");
            finding.shown = true;
            finding
        })
        .collect();
    let begun = Instant::now();
    let page = render(&report, Format::Html, &Options::new(&sources));
    let made = begun.elapsed();
    let seen = drive(
        &chromium,
        &page,
        "const loaded = performance.now();\
         const text = document.querySelector('.filters').elements.namedItem('text'); text.value = 'range';\
         text.dispatchEvent(new Event('input', { bubbles: true }));\
         const visible = [...document.querySelectorAll('.finding')].filter((r) => !r.hidden).length;\
         const bodies = document.querySelectorAll('.body').length;\
         return { rows: document.querySelectorAll('.finding').length, visible, bodies, loaded, filtered: performance.now() - loaded };",
    );
    println!(
        "1,000 findings: {} kB made in {made:?}, loaded in {} ms, filtered in {} ms",
        page.len() / 1024,
        seen["loaded"],
        seen["filtered"]
    );
    assert_eq!(seen["rows"], 1000);
    assert_eq!(seen["visible"], 167);
    assert_eq!(seen["bodies"], 1, "of the first alone");
    // Generous: this machine may be busy. What it guards against is drawing everything at once.
    assert!(seen["loaded"].as_f64().expect("a number") < 5000.0, "{seen}");
}

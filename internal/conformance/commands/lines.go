package commands

import "strings"

// browsers are commands about profiles and tabs.
func browsers() []line {
	return []line{
		cmd("start", ""),
		cmd("doctor", "/form").prints("profile: clank"),
		cmd("doctor --deep --json", "").printsJSON("live-snapshot"),
		cmd("profiles", "").prints("", "clank: running", "user: "),
		cmd("create-profile --name by-command --color #123456 --driver clawd", "").prints("", "by-command"),
		cmd("create-profile --name by-command", "").refused("already exists"),
		cmd("delete-profile --name by-command", "").prints("", "by-command"),
		cmd("delete-profile --name clank", "").refused("cannot delete the default profile"),
		cmd("reset-profile --browser-profile user", "").refused(""),
		cmd("open SITE/form --label by-command", "").prints("opened: ", "SITE/form", "id: "),
		cmd("tabs", "").prints("1. ", "Form", "SITE/form", "id: ", "by-command"),
		cmd("tab", "").prints("1. ", "Form"),
		cmd("tab label by-command renamed", ""),
		cmd("focus renamed", "").prints("focused"),
		cmd("close renamed", "").prints("closed"),
		cmd("close renamed", "").refused("tab not found"),
		cmd("tab new --label blank", "").prints("opened"),
		cmd("tab select 1", "").prints("selected"),
		cmd("tab select 99", "").refused("tab not found"),
		cmd("close --target-id blank", ""),
		cmd("focus 1", "").refused("tab not found"),
	}
}

// looking are commands that show a page.
func looking() []line {
	return []line{
		cmd("navigate SITE/form", "").prints("navigated to ", "SITE/form"),
		cmd("navigate", "").refused("url"),
		cmd("snapshot", "/world").prints("", `button "Save"`, `Iframe "Child"`),
		cmd("snapshot --interactive --compact --depth 9 --urls", "/world").prints("- ", "Links:"),
		cmd("snapshot --selector main --labels", "/world").prints("- ", "MEDIA:"),
		cmd("snapshot --frame iframe", "/world").prints("", "Inside"),
		cmd("snapshot --efficient", "/world").prints("- "),
		cmd("snapshot --mode efficient", "").prints("- "),
		cmd("snapshot --format aria --limit 2 --json", "").printsJSON(`"nodes"`),
		cmd("snapshot --selector #nosuch", "").prints("(empty)"),
		cmd("screenshot", "/form").prints("MEDIA:/"),
		cmd("screenshot --full-page --type jpeg --labels", "").prints("MEDIA:/", ".jp"),
		cmd("screenshot --element #save", "").prints("MEDIA:/"),
		cmd("screenshot --ref {Save}", "").prints("MEDIA:/"),
		cmd("screenshot --full-page --ref e1", "").refused("full-page"),
		cmd("pdf", "").prints("PDF: /"),
		cmd("text", "").prints("", "Register"),
		cmd("highlight {Save}", ""),
	}
}

// acting are commands that do something in a page.
func acting() []line {
	return []line{
		cmd("click {Save} --button left --modifiers Shift,Alt", "/form").prints("clicked"),
		cmd("click {Save} --double", ""),
		cmd("evaluate --fn said.textContent", "").printsJSON(`"saved twice"`),
		cmd("click-coords 5 5 --button right --double", ""),
		cmd("type {Name} --submit", "/form").with("Ada Lovelace ✓"),
		cmd("evaluate --fn el=>el.value --ref {Name}", "").printsJSON(`"Ada Lovelace ✓"`),
		cmd("type {Name} --slowly x", ""),
		cmd("press End", ""),
		cmd("hover {Save}", ""),
		cmd("scrollintoview {Far} --timeout-ms 9000", ""),
		cmd("drag {Name} {Save}", "/form"),
		cmd("select {Country} Norway", "/form"),
		cmd("select {Many} a c", ""),
		cmd("evaluate --fn [country.value,many.selectedOptions.length].join()", "").printsJSON(`"no,2"`),
		cmd("fill --fields", "").with(`[{"ref":"{Name}","value":"Bea"},{"ref":"{News}","type":"checkbox","value":true}]`),
		cmd("evaluate --fn [document.getElementById('name').value,news.checked].join()", "").printsJSON(`"Bea,true"`),
		cmd("resize 700 500", ""),
		cmd("set viewport 800 600", ""),
		cmd("evaluate --fn [innerWidth,innerHeight].join()", "").printsJSON(`"800,600"`),
		cmd("wait #save --time 1 --text register --text-gone nosuch --url **/form --load load --timeout-ms 9000 --fn", "/form").with("() => 1"),
		cmd("wait --text never --timeout-ms 500", "").refused("never"),
		cmd("batch --actions-file -", "/form").reads(`[{"kind":"click","selector":"#save"},{"kind":"wait","text":"saved"}]`),
		cmd("batch --continue --actions", "").with(`[{"kind":"press","key":"Enter"},{"kind":"click","ref":"e999"}]`).refused("1 of 2").prints("", "1. done", "2. failed"),
		cmd("batch --actions-file -", "").reads("[" + strings.Repeat(" ", 1_000_000) + "]").refused("1000000"),
		cmd("upload nosuch.txt --element #one", "/files").refused("Invalid path"),
		cmd("download {Get%20the%20report} by-command.txt", "/files").prints("", "by-command.txt"),
		cmd("download {Get%20the%20report} ../../by-command.txt", "/files").refused("Invalid path"),
		cmd("waitfordownload --timeout-ms 500", "").refused("500ms"),
		cmd("dialog --dismiss --timeout-ms 600", ""),
		cmd("dialog --accept --dialog-id d999", "").refused("not pending"),
	}
}

// watching are commands that tell what a page did.
func watching() []line {
	return []line{
		cmd("console", "/talk").printsJSON("talk error"),
		cmd("console --level error", "").printsJSON("talk error"),
		cmd("errors --clear", "/plain"),
		cmd("requests --filter /plain --clear", "").prints("", "/plain"),
		cmd("requests --filter nothing-like-it", "").prints(""),
		cmd("responsebody **/never --timeout-ms 500 --max-chars 9", "").refused("requests"),
		cmd("trace start --no-screenshots --no-snapshots --sources", "/plain"),
		cmd("trace start", "").refused("running"),
		cmd("trace stop --out by-command.zip", "").prints("TRACE:/", "by-command.zip"),
		cmd("trace stop", "").refused("start"),
		cmd("har", "").printsJSON("entries"),
	}
}

// state are commands about what is kept for pages, and what they are told.
func state() []line {
	return []line{
		cmd("cookies set crumb 42 --url SITE", "/plain"),
		cmd("cookies", "").printsJSON(`"crumb"`),
		cmd("cookies clear", ""),
		cmd("cookies", "").printsJSON("[]"),
		cmd("storage local set key", "").with(" a value "),
		cmd("storage local get key", "").printsJSON(`" a value "`),
		cmd("storage local clear", ""),
		cmd("storage session set key value", ""),
		cmd("storage session get", "").printsJSON(`"value"`),
		cmd("storage session clear", ""),
		cmd("set offline on", ""),
		cmd("set offline off", ""),
		cmd("set headers", "").with(`{"X-One":"1"}`),
		cmd("set headers --headers-json {}", ""),
		cmd("set credentials ada lovelace", ""),
		cmd("set credentials --clear", ""),
		cmd("set geo 60.4 5.3 --accuracy 10 --origin SITE", ""),
		cmd("set geo --clear", ""),
		cmd("set media dark", ""),
		cmd("set media none", ""),
		cmd("set timezone Europe/Oslo", ""),
		cmd("set timezone Mars", "").refused("Invalid timezone ID"),
		cmd("set locale en-US", ""),
		cmd("set device", "").with("Pocket Calculator").refused("Pocket Calculator"),
	}
}

// wrong are command lines that mean nothing: each says what it is, and where help is.
func wrong() []line {
	return []line{
		cmd("", "").refused("browser"),
		cmd("frobnicate", "").refused("frobnicate"),
		cmd("clik e1", "").refused("click"),
		cmd("click", "").refused("ref"),
		cmd("click e1 e2", "").refused("e2"),
		cmd("type e1", "").refused("text"),
		cmd("status --frob", "").refused("--frob"),
		cmd("fill", "").refused("--fields"),
		cmd("fill --fields {", "").refused("JSON"),
		cmd("resize 0 9", "").refused("width"),
		cmd("wait", "").refused("wait"),
		cmd("evaluate", "").refused("--fn"),
		cmd("dialog", "").refused("--accept"),
		cmd("storage cloud get", "").refused("local"),
		cmd("set offline perhaps", "").refused("perhaps"),
		cmd("cookies set a b", "").refused("--url"),
		cmd("--help", "").prints("", "navigate", "Exit codes"),
		cmd("click --help", "").prints("", "--double"),
	}
}

package controltest

import "strings"

// browserCommands returns commands about profiles and tabs.
func browserCommands() []commandCase {
	return []commandCase{
		newCommandCase("start", ""),
		newCommandCase("doctor", "/form").prints("profile: clank"),
		newCommandCase("doctor --deep --json", "").printsJSON("live-snapshot"),
		newCommandCase("profiles", "").prints("", "clank: running", "user: "),
		newCommandCase("create-profile --name by-command --color #123456 --driver clawd", "").prints("", "by-command"),
		newCommandCase("create-profile --name by-command", "").refused("already exists"),
		newCommandCase("delete-profile --name by-command", "").prints("", "by-command"),
		newCommandCase("delete-profile --name clank", "").refused("cannot delete the default profile"),
		newCommandCase("reset-profile --browser-profile user", "").refused(""),
		newCommandCase("open SITE/form --label by-command", "").prints("opened: ", "SITE/form", "id: "),
		newCommandCase("tabs", "").prints("1. ", "Form", "SITE/form", "id: ", "by-command"),
		newCommandCase("tab", "").prints("1. ", "Form"),
		newCommandCase("tab label by-command renamed", ""),
		newCommandCase("focus renamed", "").prints("focused"),
		newCommandCase("close renamed", "").prints("closed"),
		newCommandCase("close renamed", "").refused("tab not found"),
		newCommandCase("tab new --label blank", "").prints("opened"),
		newCommandCase("tab select 1", "").prints("selected"),
		newCommandCase("tab select 99", "").refused("tab not found"),
		newCommandCase("close --target-id blank", ""),
		newCommandCase("focus 1", "").refused("tab not found"),
	}
}

// readingCommands returns commands that show a page.
func readingCommands() []commandCase {
	return []commandCase{
		newCommandCase("navigate SITE/form", "").prints("navigated to ", "SITE/form"),
		newCommandCase("navigate", "").refused("url"),
		newCommandCase("snapshot", "/world").prints("", `button "Save"`, `Iframe "Child"`),
		newCommandCase("snapshot --interactive --compact --depth 9 --urls", "/world").prints("- ", "Links:"),
		newCommandCase("snapshot --selector main --labels", "/world").prints("- ", "MEDIA:"),
		newCommandCase("snapshot --frame iframe", "/world").prints("", "Inside"),
		newCommandCase("snapshot --efficient", "/world").prints("- "),
		newCommandCase("snapshot --mode efficient", "").prints("- "),
		newCommandCase("snapshot --format aria --limit 2 --json", "").printsJSON(`"nodes"`),
		newCommandCase("snapshot --selector #nosuch", "").prints("(empty)"),
		newCommandCase("screenshot", "/form").prints("MEDIA:/"),
		newCommandCase("screenshot --full-page --type jpeg --labels", "").prints("MEDIA:/", ".jp"),
		newCommandCase("screenshot --element #save", "").prints("MEDIA:/"),
		newCommandCase("screenshot --ref {Save}", "").prints("MEDIA:/"),
		newCommandCase("screenshot --full-page --ref e1", "").refused("full-page"),
		newCommandCase("pdf", "").prints("PDF: /"),
		newCommandCase("text", "").prints("", "Register"),
		newCommandCase("highlight {Save}", ""),
	}
}

// actingCommands returns commands that do something in a page.
func actingCommands() []commandCase {
	return []commandCase{
		newCommandCase("click {Save} --button left --modifiers Shift,Alt", "/form").prints("clicked"),
		newCommandCase("click {Save} --double", ""),
		newCommandCase("evaluate --fn said.textContent", "").printsJSON(`"saved twice"`),
		newCommandCase("click-coords 5 5 --button right --double", ""),
		newCommandCase("type {Name} --submit", "/form").with("Ada Lovelace ✓"),
		newCommandCase("evaluate --fn el=>el.value --ref {Name}", "").printsJSON(`"Ada Lovelace ✓"`),
		newCommandCase("type {Name} --slowly x", ""),
		newCommandCase("press End", ""),
		newCommandCase("hover {Save}", ""),
		newCommandCase("scrollintoview {Far} --timeout-ms 9000", ""),
		newCommandCase("drag {Name} {Save}", "/form"),
		newCommandCase("select {Country} Norway", "/form"),
		newCommandCase("select {Many} a c", ""),
		newCommandCase("evaluate --fn [country.value,many.selectedOptions.length].join()", "").printsJSON(`"no,2"`),
		newCommandCase("fill --fields", "").with(`[{"ref":"{Name}","value":"Bea"},{"ref":"{News}","type":"checkbox","value":true}]`),
		newCommandCase("evaluate --fn [document.getElementById('name').value,news.checked].join()", "").printsJSON(`"Bea,true"`),
		newCommandCase("resize 700 500", ""),
		newCommandCase("set viewport 800 600", ""),
		newCommandCase("evaluate --fn [innerWidth,innerHeight].join()", "").printsJSON(`"800,600"`),
		newCommandCase("wait #save --time 1 --text register --text-gone nosuch --url **/form --load load --timeout-ms 9000 --fn", "/form").with("() => 1"),
		newCommandCase("wait --text never --timeout-ms 500", "").refused("never"),
		newCommandCase("batch --actions-file -", "/form").reads(`[{"kind":"click","selector":"#save"},{"kind":"wait","text":"saved"}]`),
		newCommandCase("batch --continue --actions", "").with(`[{"kind":"press","key":"Enter"},{"kind":"click","ref":"e999"}]`).refused("1 of 2").prints("", "1. done", "2. failed"),
		newCommandCase("batch --actions-file -", "").reads("[" + strings.Repeat(" ", 1_000_000) + "]").refused("1000000"),
		newCommandCase("upload nosuch.txt --element #one", "/files").refused("Invalid path"),
		newCommandCase("download {Get%20the%20report} by-command.txt", "/files").prints("", "by-command.txt"),
		newCommandCase("download {Get%20the%20report} ../../by-command.txt", "/files").refused("Invalid path"),
		newCommandCase("waitfordownload --timeout-ms 500", "").refused("500ms"),
		newCommandCase("dialog --dismiss --timeout-ms 600", ""),
		newCommandCase("dialog --accept --dialog-id d999", "").refused("not pending"),
	}
}

// recordingCommands returns commands that tell what a page did.
func recordingCommands() []commandCase {
	return []commandCase{
		newCommandCase("console", "/talk").printsJSON("talk error"),
		newCommandCase("console --level error", "").printsJSON("talk error"),
		newCommandCase("errors --clear", "/plain"),
		newCommandCase("requests --filter /plain --clear", "").prints("", "/plain"),
		newCommandCase("requests --filter nothing-like-it", "").prints(""),
		newCommandCase("responsebody **/never --timeout-ms 500 --max-chars 9", "").refused("requests"),
		newCommandCase("trace start --no-screenshots --no-snapshots --sources", "/plain"),
		newCommandCase("trace start", "").refused("running"),
		newCommandCase("trace stop --out by-command.zip", "").prints("TRACE:/", "by-command.zip"),
		newCommandCase("trace stop", "").refused("start"),
		newCommandCase("har", "").printsJSON("entries"),
	}
}

// stateCommands returns commands about what is stored for pages and what pages are told.
func stateCommands() []commandCase {
	return []commandCase{
		newCommandCase("cookies set crumb 42 --url SITE", "/plain"),
		newCommandCase("cookies", "").printsJSON(`"crumb"`),
		newCommandCase("cookies clear", ""),
		newCommandCase("cookies", "").printsJSON("[]"),
		newCommandCase("storage local set key", "").with(" a value "),
		newCommandCase("storage local get key", "").printsJSON(`" a value "`),
		newCommandCase("storage local clear", ""),
		newCommandCase("storage session set key value", ""),
		newCommandCase("storage session get", "").printsJSON(`"value"`),
		newCommandCase("storage session clear", ""),
		newCommandCase("set offline on", ""),
		newCommandCase("set offline off", ""),
		newCommandCase("set headers", "").with(`{"X-One":"1"}`),
		newCommandCase("set headers --headers-json {}", ""),
		newCommandCase("set credentials ada lovelace", ""),
		newCommandCase("set credentials --clear", ""),
		newCommandCase("set geo 60.4 5.3 --accuracy 10 --origin SITE", ""),
		newCommandCase("set geo --clear", ""),
		newCommandCase("set media dark", ""),
		newCommandCase("set media none", ""),
		newCommandCase("set timezone Europe/Oslo", ""),
		newCommandCase("set timezone Mars", "").refused("Invalid timezone ID"),
		newCommandCase("set locale en-US", ""),
		newCommandCase("set device", "").with("Pocket Calculator").refused("Pocket Calculator"),
	}
}

// wrongUseCommands returns command lines that are wrong: each error says what is wrong, and where to find help.
func wrongUseCommands() []commandCase {
	return []commandCase{
		newCommandCase("", "").refused("browser"),
		newCommandCase("frobnicate", "").refused("frobnicate"),
		newCommandCase("clik e1", "").refused("click"),
		newCommandCase("click", "").refused("ref"),
		newCommandCase("click e1 e2", "").refused("e2"),
		newCommandCase("type e1", "").refused("text"),
		newCommandCase("status --frob", "").refused("--frob"),
		newCommandCase("fill", "").refused("--fields"),
		newCommandCase("fill --fields {", "").refused("JSON"),
		newCommandCase("resize 0 9", "").refused("width"),
		newCommandCase("wait", "").refused("wait"),
		newCommandCase("evaluate", "").refused("--fn"),
		newCommandCase("dialog", "").refused("--accept"),
		newCommandCase("storage cloud get", "").refused("local"),
		newCommandCase("set offline perhaps", "").refused("perhaps"),
		newCommandCase("cookies set a b", "").refused("--url"),
		newCommandCase("--help", "").prints("", "navigate", "Exit codes"),
		newCommandCase("click --help", "").prints("", "--double"),
	}
}

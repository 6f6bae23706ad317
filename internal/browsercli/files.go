package browsercli

import (
	"clank/browsermgr/control/client"
	"clank/internal/browsercli/show"
	"clank/internal/cmdline"
)

func fileCommands() []command {
	return []command{
		{
			name: "upload", args: "<path> […]", short: "choose files: for the next chooser that opens, or for an element",
			options: []option{
				{name: "ref", kind: text, value: "ref", help: "click this and fill the chooser that opens", field: "ref"},
				{name: "input-ref", kind: text, value: "ref", help: "set the files of this field", field: "inputRef"},
				{name: "element", kind: text, value: "css", help: "set the files of the first field that matches", field: "element"},
				onTab, limit,
			},
			examples: []string{"upload photo.png --ref e7"},
			build: func(in *input) (request, error) {
				r := in.post("/hooks/file-chooser", map[string]any{"paths": in.args})
				if in.has("ref") && (in.has("input-ref") || in.has("element")) {
					return r, cmdline.Usagef("--ref cannot go with --input-ref or --element")
				}
				if in.has("input-ref") && in.has("element") {
					return r, cmdline.Usagef("--input-ref and --element exclude one another")
				}
				return r, nil
			},
			show: func(p *show.Printer, in *input, _ []byte) error {
				files := show.Counted(len(in.args), "file")
				if in.has("ref") || in.has("input-ref") || in.has("element") {
					p.Line("chose %s", files)
				} else {
					p.Line("the next file chooser gets %s", files)
				}
				return nil
			},
		},
		{
			name: "download", args: "<ref> <path>", short: "click an element and save the file that it offers", options: []option{onTab, limit},
			build: func(in *input) (request, error) {
				return in.post("/download", map[string]any{"ref": in.arg(0), "path": in.arg(1)}), nil
			},
			judge: judgeDownload, show: showing(show.Consequences),
		},
		{
			name: "waitfordownload", args: "[path]", short: "wait for the next file and save it", options: []option{onTab, limit},
			build: func(in *input) (request, error) {
				r := in.post("/wait/download", nil)
				if in.arg(0) != "" {
					r.body["path"] = in.arg(0)
				}
				return r, nil
			},
			judge: judgeDownload, show: showing(show.Consequences),
		},
		{
			name: "dialog", short: "answer the open dialog, or the next one",
			options: []option{
				{name: "accept", help: "say yes"},
				{name: "dismiss", help: "say no"},
				{name: "prompt", kind: text, value: "text", help: "what to answer a prompt", field: "promptText"},
				{name: "dialog-id", kind: text, value: "id", help: "which dialog, if several are open", field: "dialogId"},
				onTab, limit,
			},
			examples: []string{"dialog --accept", `dialog --accept --prompt "Ada"`},
			build: func(in *input) (request, error) {
				if in.on("accept") == in.on("dismiss") {
					return request{}, cmdline.Usagef("give either --accept or --dismiss")
				}
				return in.post("/hooks/dialog", map[string]any{"accept": in.on("accept")}), nil
			},
			show: func(p *show.Printer, in *input, _ []byte) error {
				if in.on("accept") {
					p.Line("the dialog is accepted, or the next one will be")
				} else {
					p.Line("the dialog is dismissed, or the next one will be")
				}
				return nil
			},
		},
		{
			name: "dialogs", short: "the open and the last dialogs of a page, as JSON", options: []option{onTab},
			build: func(in *input) (request, error) { return in.get("/dialogs"), nil },
			show:  showingField("browserState", "{}"),
		},
	}
}

func judgeDownload(_ *input, answer []byte) error {
	r, err := decode[client.Result](answer)
	if err == nil && (r.Download == nil || r.Download.Path == "") {
		if r.BlockedByDialog {
			return blocked(r.BrowserState)
		}
		return errNoFile
	}
	return err
}

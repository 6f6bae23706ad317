package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"clank/browsermgr/control/client"
)

func fileCommands() []browserCommand {
	return []browserCommand{
		{
			name: "upload", args: "<path> […]", short: "choose files for the next file chooser, or for an element",
			options: []browserOption{
				{
					name: "ref", kind: kindText, value: "ref", help: "click this, and choose the files in the chooser that opens",
					field: "ref",
				},
				{name: "input-ref", kind: kindText, value: "ref", help: "set the files of this field", field: "inputRef"},
				{
					name: "element", kind: kindText, value: "css", help: "set the files of the first field that matches",
					field: "element",
				},
				tabOption, timeoutOption,
			},
			examples: []string{"upload ~/photos/cat.png --ref e7"},
			buildRequest: func(in *commandInput) (controlRequest, error) {
				r := in.postRequest("/hooks/file-chooser", nil)
				if in.has("ref") && (in.has("input-ref") || in.has("element")) {
					return r, usagef("--ref cannot go with --input-ref or --element")
				}
				if in.has("input-ref") && in.has("element") {
					return r, usagef("--input-ref and --element exclude one another")
				}
				paths, err := in.copyUploads()
				r.body["paths"] = paths
				return r, err
			},
			printAnswer: printUpload,
		},
		{
			name: "download", args: "<ref> <path>", short: "click an element and save the file that it offers",
			options:      []browserOption{tabOption, timeoutOption},
			buildRequest: buildPost("/download", "ref", "path"),
			checkAnswer:  checkDownload, printAnswer: printTyped(printConsequences),
		},
		{
			name: "waitfordownload", args: "[path]", short: "wait for the next download and save it",
			options: []browserOption{tabOption, timeoutOption},
			buildRequest: func(in *commandInput) (controlRequest, error) {
				r := in.postRequest("/wait/download", nil)
				if in.arg(0) != "" {
					r.body["path"] = in.arg(0)
				}
				return r, nil
			},
			checkAnswer: checkDownload, printAnswer: printTyped(printConsequences),
		},
		{
			name: "dialog", short: "answer the open dialog, or the next one",
			options: []browserOption{
				{name: "accept", help: "say yes"},
				{name: "dismiss", help: "say no"},
				{name: "prompt", kind: kindText, value: "text", help: "answer to a prompt", field: "promptText"},
				{name: "dialog-id", kind: kindText, value: "id", help: "which dialog, if several are open", field: "dialogId"},
				tabOption, timeoutOption,
			},
			examples: []string{"dialog --accept", `dialog --accept --prompt "Ada"`},
			buildRequest: func(in *commandInput) (controlRequest, error) {
				if in.isOn("accept") == in.isOn("dismiss") {
					return controlRequest{}, usagef("give either --accept or --dismiss")
				}
				return in.postRequest("/hooks/dialog", map[string]any{"accept": in.isOn("accept")}), nil
			},
			printAnswer: printByFlag("accept", "the dialog is accepted, or the next one will be", "the dialog is dismissed, "+
				"or the next one will be"),
		},
		{
			name: "dialogs", short: "print the open and the last dialogs of a page, as JSON",
			options:      []browserOption{tabOption},
			buildRequest: buildGet("/dialogs"),
			printAnswer:  printField("browserState", "{}"),
		},
	}
}

func printUpload(p *outputPrinter, in *commandInput, _ []byte) error {
	files := countNoun(len(in.args), "file")
	if in.has("ref") || in.has("input-ref") || in.has("element") {
		p.Line("chose %s", files)
	} else {
		p.Line("the next file chooser gets %s", files)
	}
	return nil
}

func checkDownload(_ *commandInput, answer []byte) error {
	r, err := decodeAnswer[client.Result](answer)
	if err == nil && (r.Download == nil || r.Download.Path == "") {
		if r.BlockedByDialog {
			return dialogError(r.BrowserState)
		}
		return errNoFileMade
	}
	return err
}

// copyUploads copies the files named by the arguments to the server's upload folder, because the server reads no
// others, and returns the paths of the copies. A relative name that does not exist here is passed on, because it may
// exist in that folder. The copies are removed when the command ends.
func (in *commandInput) copyUploads() (paths []string, err error) {
	for i, path := range in.args {
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist) && in.home != "" && filepath.IsAbs(path):
			return nil, usagef("there is no file %s", path)
		case errors.Is(err, fs.ErrNotExist), in.home == "":
			paths = append(paths, path)
			continue
		case err != nil:
			return nil, usagef("%v", err)
		case !info.Mode().IsRegular():
			return nil, usagef("%s is not a regular file", path)
		}
		if in.uploadDir == "" {
			uploads := filepath.Join(in.home, "uploads")
			if err := os.MkdirAll(uploads, 0o700); err != nil {
				return nil, err
			}
			if in.uploadDir, err = os.MkdirTemp(uploads, "lent-"); err != nil {
				return nil, err
			}
		}
		name := strings.ToValidUTF8(filepath.Base(path), "\uFFFD") // as in a page; JSON has no other bytes
		to := filepath.Join(in.uploadDir, strconv.Itoa(i), name)
		if err := in.copyFile(path, to); err != nil {
			return nil, err
		}
		paths = append(paths, to)
	}
	return paths, nil
}

// copyFile copies a file to a new directory. It stops when the command is canceled.
func (in *commandInput) copyFile(path, to string) error {
	from, err := os.Open(path)
	if err != nil {
		return usagef("%v", err)
	}
	defer from.Close()
	if err := os.Mkdir(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	const piece = 16 << 20
	for err == nil && in.stopped() == nil {
		_, err = io.CopyN(out, from, piece)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, out.Close(), in.stopped())
}

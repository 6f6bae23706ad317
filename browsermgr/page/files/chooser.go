package files

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

// UploadRequest describes an upload. With InputRef or Element (CSS, first match) the files are set on that file input;
// with Ref that element is clicked, and the file chooser that it opens gets them; otherwise the next chooser of the tab
// gets them (arming).
type UploadRequest struct {
	Paths    []string // see [UploadPolicy]
	Session  string   // that owns the page; "" for none
	Ref      string
	InputRef string
	Element  string
	// Limit bounds the upload; when arming, it is how long the next chooser may take to open. See [MaxTimeout].
	Limit time.Duration
}

func (u UploadRequest) validate() error {
	switch {
	case len(u.Paths) == 0:
		return fault.Invalidf("paths are required")
	case u.Ref != "" && (u.InputRef != "" || u.Element != ""):
		return fault.Invalidf("ref cannot be combined with inputRef or element")
	case u.InputRef != "" && u.Element != "":
		return fault.Invalidf("inputRef and element exclude one another")
	}
	return nil
}

// Check returns what is wrong with a request, before approval is requested.
func (d *Transfers) Check(u UploadRequest) error {
	if err := u.validate(); err != nil {
		return err
	}
	_, err := d.opts.Uploads.Resolve(u.Session, u.Paths)
	return err
}

// Names returns the file names of paths for a page of a session, as users know them. A path without a file is returned
// unchanged.
func (d *Transfers) Names(session string, paths []string) []string {
	names := slices.Clone(paths)
	for i, path := range paths {
		if real, err := d.opts.Uploads.Resolve(session, []string{path}); err == nil {
			names[i] = filepath.Base(real[0])
		}
	}
	return names
}

// Upload sets files in a page, which gets input and change events as if a person had chosen them. Arming returns at
// once and replaces an earlier arming in the same tab. The error for invalid requests and paths wraps page.ErrInvalid.
func (d *Transfers) Upload(ctx context.Context, tab *page.Tab, u UploadRequest) error {
	if err := d.Check(u); err != nil {
		return err
	}
	c, leave, err := d.acquireTab(tab)
	if err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	defer leave()
	files, err := d.copyUploads(c, u)
	if err != nil {
		return err
	}
	if u.Ref == "" && u.InputRef == "" && u.Element == "" {
		d.armChooser(c, &chooserFiles{files: files}, u.Limit)
		return nil
	}
	ctx, cancel := withLimit(ctx, u.Limit)
	defer cancel()
	given := u
	if u.Ref != "" {
		given.InputRef = u.Ref // a file input needs no click and may be hidden
	}
	err = setFiles(ctx, tab, given, files)
	if u.Ref != "" && errors.Is(err, errNoFileInput) {
		err = d.fillChooser(ctx, c, u.Ref, files)
	}
	if err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	return nil
}

// errNoFileInput is returned if an element is not a file input.
var errNoFileInput = fmt.Errorf("it is not a file input (%w)", page.ErrNotInteractable)

// fileInput describes an element as far as needed to set its files.
const fileInput = `function () {
	if (this.localName !== 'input' || this.type !== 'file') return 'none';
	return this.disabled ? 'it is disabled' : this.webkitdirectory ? 'folder' : this.multiple ? 'many' : '';
}`

// folderChosen resolves when a file input has the files of a folder, which Chromium reads after it was set.
const folderChosen = `function () { return new Promise((done) => this.addEventListener('change', done, {once: true})) }`

// labelledControl returns the control of a label, or the element itself.
const labelledControl = `function () { return this.localName === 'label' && this.control ? this.control : this; }`

// setFiles sets the files of the requested input.
func setFiles(ctx context.Context, tab *page.Tab, u UploadRequest, files []string) error {
	return tab.RunExclusive(ctx, MaxTimeout, func(ctx context.Context) error {
		e, err := tab.Locate(u.InputRef, u.Element)
		if err != nil {
			return err
		}
		id, err := e.Object(ctx, u.Element)
		if err != nil {
			return err
		}
		defer e.Frame.Post(proto.RuntimeReleaseObject{ObjectID: id})
		control, err := cdp.Ask[proto.RuntimeCallFunctionOnResult](ctx, e.Frame.Session, proto.RuntimeCallFunctionOn{
			ObjectID: id, FunctionDeclaration: labelledControl,
		})
		if err != nil {
			return err
		}
		id = control.Result.ObjectID
		defer e.Frame.Post(proto.RuntimeReleaseObject{ObjectID: id})
		return setInputFiles(ctx, e.Frame, id, e.GivenRef, files)
	})
}

// setInputFiles sets the files of an element given as a remote object. given names it in errors.
func setInputFiles(ctx context.Context, f *frame.Frame, id proto.RuntimeRemoteObjectID, given string,
	files []string,
) error {
	res, err := cdp.Ask[frame.EvaluateResult[string]](ctx, f.Session, proto.RuntimeCallFunctionOn{
		ObjectID: id, FunctionDeclaration: fileInput, ReturnByValue: true,
	})
	why := res.Result.Value
	switch {
	case err != nil:
		return err
	case res.Exception != nil:
		return frame.ExceptionError(res.Exception)
	case why == "none":
		return fmt.Errorf("%s: %w", given, errNoFileInput)
	case why != "" && why != "many" && why != "folder":
		return fmt.Errorf("%s: %s (%w)", given, why, page.ErrNotInteractable)
	case why == "" && len(files) > 1:
		return fmt.Errorf("%s takes one file only, got %d (%w)", given, len(files), page.ErrNotInteractable)
	}
	if why != "folder" {
		return f.Do(ctx, proto.DOMSetFileInputFiles{Files: files, ObjectID: id})
	}
	read := f.Begin(proto.RuntimeCallFunctionOn{ObjectID: id, FunctionDeclaration: folderChosen, AwaitPromise: true})
	err = f.Do(ctx, proto.DOMSetFileInputFiles{Files: []string{folderOf(files)}, ObjectID: id})
	if err != nil {
		read.Abandon()
		return err
	}
	return read.Wait(ctx, nil)
}

// fillNode sets the files of a file input given as a node, in a chooser that it opened.
func fillNode(ctx context.Context, f *frame.Frame, node proto.DOMBackendNodeID, files []string) error {
	object, err := cdp.Ask[proto.DOMResolveNodeResult](ctx, f.Session, proto.DOMResolveNode{BackendNodeID: node})
	if err != nil {
		return err
	}
	defer f.Post(proto.RuntimeReleaseObject{ObjectID: object.Object.ObjectID})
	return setInputFiles(ctx, f, object.Object.ObjectID, "the file chooser", files)
}

// chooserFiles are the files for the next file chooser of a tab. Transfers.mu guards its fields.
type chooserFiles struct {
	files  []string
	result chan error // receives the outcome, once; nil if nobody waits
	timer  *time.Timer
}

// armChooser passes files to the tab's next file chooser, replacing earlier ones.
func (d *Transfers) armChooser(c *tabTransfers, a *chooserFiles, limit time.Duration) {
	if limit <= 0 {
		limit = MaxTimeout
	}
	limit = min(max(limit, MinTimeout), MaxTimeout)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		a.report(errClosed)
		return
	}
	c.disarmChooser(ErrSuperseded)
	c.armedChooser = a
	a.timer = time.AfterFunc(limit, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if c.armedChooser == a {
			c.disarmChooser(&fault.TimeLimitError{Limit: limit})
		}
	})
	c.interceptChoosers(true)
}

// interceptChoosers turns interception of file choosers on or off, in all processes of the tab.
func (c *tabTransfers) interceptChoosers(on bool) {
	for _, f := range c.tab.ProcessRoots() {
		f.Post(proto.PageSetInterceptFileChooserDialog{Enabled: on})
	}
}

// disarmChooser cancels what is armed. The caller holds Transfers.mu.
func (c *tabTransfers) disarmChooser(cause error) {
	a := c.armedChooser
	if a == nil {
		return
	}
	c.armedChooser = nil
	a.timer.Stop()
	a.report(cause)
	c.interceptChoosers(c.asksPerson)
}

func (a *chooserFiles) report(err error) {
	if a.result != nil {
		a.result <- err // it is buffered
		a.result = nil
	}
}

// handleChooserOpened passes the armed files to a file chooser. The event occurs only while choosers are intercepted.
func (d *Transfers) handleChooserOpened(t *page.Tab, f *frame.Frame, ev cdp.Event) {
	var p struct {
		Mode          string                 `json:"mode"`
		BackendNodeID proto.DOMBackendNodeID `json:"backendNodeId"`
	}
	if t == nil || !ev.Decode(&p) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.tabs[t]
	if c == nil || d.closed {
		return
	}
	if c.armedChooser == nil {
		if c.asksPerson && p.BackendNodeID != 0 {
			c.chooser = &openChooser{frame: f, node: p.BackendNodeID, single: p.Mode == "selectSingle"}
		}
		return
	}
	a := c.armedChooser
	if p.BackendNodeID == 0 {
		c.disarmChooser(errors.New("the page opened a file picker without a file input, which cannot be filled"))
		return
	}
	files, result := a.files, a.result
	a.result = nil
	c.disarmChooser(nil)
	d.wg.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), MaxTimeout)
		defer cancel()
		err := fillNode(ctx, f, p.BackendNodeID, files)
		if err != nil {
			d.log.Info("file chooser not filled", "error", err)
		}
		if result != nil {
			result <- err
		}
	})
}

// fillChooser clicks an element and fills the file chooser that it opens.
func (d *Transfers) fillChooser(ctx context.Context, c *tabTransfers, ref string, files []string) error {
	result := make(chan error, 1)
	a := &chooserFiles{files: files, result: result}
	d.armChooser(c, a, MaxTimeout)
	defer func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if c.armedChooser == a {
			c.disarmChooser(context.Canceled)
		}
	}()
	res, err := c.tab.Act(ctx, page.Action{Kind: actiontable.KindClick, Ref: ref})
	switch {
	case err != nil:
		return err
	case res.BlockedByDialog:
		return &page.DialogError{Dialog: *res.Dialog}
	}
	waiting, cancel := context.WithTimeoutCause(ctx, activationLimit, &fault.TimeLimitError{Limit: activationLimit})
	defer cancel()
	select {
	case err := <-result:
		return err
	case <-waiting.Done():
		if _, ok := errors.AsType[*fault.TimeLimitError](context.Cause(waiting)); ok {
			return noChooserError(ctx, c.tab, ref)
		}
		return context.Cause(waiting)
	case <-c.tab.Done():
		return c.tab.Err()
	}
}

// activationLimit is how long after a click Chromium lets a page open a file chooser, with some time to tell us. After
// 5 s without input it refuses ("transient activation", HTML).
const activationLimit = 6 * time.Second

// listLimit bounds the search for the file inputs of a page.
const listLimit = 3 * time.Second

// noChooserError says that a click opened no file chooser, and lists the file inputs of the page.
func noChooserError(ctx context.Context, tab *page.Tab, ref string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), listLimit)
	defer cancel()
	var found []string
	snap, _ := tab.Snapshot(ctx, page.SnapshotOptions{Query: "[file]"}) // without one, nothing is listed
	for line := range strings.Lines(snap.Text) {
		if strings.Contains(line, " [file]") && strings.Contains(line, " [ref=") && len(found) < maxListed {
			found = append(found, strings.TrimPrefix(strings.TrimSpace(line), "- "))
		}
	}
	advice := "take a new snapshot to see what the click did"
	if len(found) > 0 {
		advice = "give the files to a file input of the page instead: " + strings.Join(found, "; ")
	}
	return fmt.Errorf("a click on %s opened no file chooser (%w): %s", strings.TrimSpace(ref), page.ErrNotInteractable,
		advice)
}

// maxListed bounds how many file inputs an error lists.
const maxListed = 10

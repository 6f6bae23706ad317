package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
	"clank/browsermgr/frame"
	"clank/browsermgr/page"

	"github.com/go-rod/rod/lib/proto"
)

// Upload says which files go where. With InputRef or Element (CSS, first match) the files are put into that file input; with
// Ref that element is clicked, and the file chooser that it opens gets them; with none of them the next chooser of the tab
// gets them.
type Upload struct {
	Paths    []string // see [Uploads]
	Ref      string
	InputRef string
	Element  string
	// Limit bounds the whole; when arming it is how long the next chooser may take to open. See [Longest].
	Limit time.Duration
}

func (u Upload) validate() error {
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

// Upload puts files into a page. The page gets input and change events, as if a person had chosen them. Arming returns at once,
// and takes the place of an earlier arming in the same tab; other tabs are not concerned. Refused requests and paths wrap
// page.ErrInvalid.
func (d *Desk) Upload(ctx context.Context, tab *page.Tab, u Upload) error {
	if err := u.validate(); err != nil {
		return err
	}
	if _, err := d.opts.Uploads.Resolve(u.Paths); err != nil {
		return err
	}
	c, leave, err := d.enter(tab)
	if err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	defer leave()
	files, err := d.hold(c, u.Paths)
	if err != nil {
		return err
	}
	if u.Ref == "" && u.InputRef == "" && u.Element == "" {
		d.arm(c, &arming{files: files}, u.Limit)
		return nil
	}
	ctx, cancel := bounded(ctx, u.Limit)
	defer cancel()
	if u.Ref != "" {
		err = d.choose(ctx, c, u.Ref, files)
	} else {
		err = setFiles(ctx, tab, u, files)
	}
	if err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	return nil
}

// fileInput says of an element what has to be known before files are put into it.
const fileInput = `function () {
	const input = this.localName === 'label' && this.control ? this.control : this;
	if (input.localName !== 'input' || input.type !== 'file') return 'it is not a file input';
	return input.disabled ? 'it is disabled' : input.multiple ? 'many' : '';
}`

// setFiles puts files into the input that is named.
func setFiles(ctx context.Context, tab *page.Tab, u Upload, files []string) error {
	return tab.Exclusive(ctx, Longest, func(ctx context.Context) error {
		e, err := tab.Locate(u.InputRef, u.Element)
		if err != nil {
			return err
		}
		arg := map[string]string{"ref": e.Local, "selector": u.Element}
		id, err := frame.Object(ctx, e.Frame, frame.Script{Fn: "element", Arg: arg})
		switch {
		case errors.Is(err, cdp.ErrDocumentGone) && u.InputRef != "":
			return fault.Vanished(e.Given)
		case errors.Is(err, cdp.ErrDocumentGone):
			return fmt.Errorf("%s: not found; take a new snapshot", e.Given)
		case err != nil:
			return err
		}
		defer e.Frame.Post(proto.RuntimeReleaseObject{ObjectID: id})
		return fill(ctx, e.Frame, id, e.Given, files)
	})
}

// fill puts files into an element that the page holds for us, which is named to people by given.
func fill(ctx context.Context, f *frame.Frame, id proto.RuntimeRemoteObjectID, given string, files []string) error {
	res, err := cdp.Ask[frame.Remote[string]](ctx, f.Session, proto.RuntimeCallFunctionOn{
		ObjectID: id, FunctionDeclaration: fileInput, ReturnByValue: true,
	})
	switch why := res.Result.Value; {
	case err != nil:
		return err
	case res.Exception != nil:
		return frame.ExceptionError(res.Exception)
	case why != "" && why != "many":
		return fmt.Errorf("%s: %s (%w)", given, why, page.ErrNotInteractable)
	case why == "" && len(files) > 1:
		return fmt.Errorf("%s takes one file only, got %d (%w)", given, len(files), page.ErrNotInteractable)
	}
	return f.Do(ctx, proto.DOMSetFileInputFiles{Files: files, ObjectID: id})
}

// arming are the files for the next file chooser of a tab. Its fields belong to the desk's lock.
type arming struct {
	files  []string
	result chan error // gets what became of it, once; nil if nobody waits
	timer  *time.Timer
}

// arm has the tab's next file chooser get files, in place of earlier ones.
func (d *Desk) arm(c *counter, a *arming, limit time.Duration) {
	if limit <= 0 {
		limit = Longest
	}
	limit = min(max(limit, Shortest), Longest)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		a.report(ErrClosed)
		return
	}
	c.disarm(ErrSuperseded)
	c.arming = a
	a.timer = time.AfterFunc(limit, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if c.arming == a {
			c.disarm(&fault.LimitError{Limit: limit})
		}
	})
	c.intercept(true)
}

// intercept has file choosers of the tab told instead of shown, in all its processes.
func (c *counter) intercept(on bool) {
	for _, f := range c.tab.Processes() {
		f.Post(proto.PageSetInterceptFileChooserDialog{Enabled: on})
	}
}

// disarm takes back what is armed. The caller holds the desk's lock.
func (c *counter) disarm(cause error) {
	a := c.arming
	if a == nil {
		return
	}
	c.arming = nil
	a.timer.Stop()
	a.report(cause)
	c.intercept(false)
}

func (a *arming) report(err error) {
	if a.result != nil {
		a.result <- err // has room for one
		a.result = nil
	}
}

// chooserOpened gives the armed files to a file chooser. The event is told only while it is intercepted.
func (d *Desk) chooserOpened(t *page.Tab, f *frame.Frame, ev cdp.Event) {
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
	if c == nil || c.arming == nil || d.closed {
		return
	}
	a := c.arming
	if p.Mode == "selectSingle" && len(a.files) > 1 {
		c.disarm(fmt.Errorf("the file chooser takes one file only, got %d", len(a.files)))
		return
	}
	if p.BackendNodeID == 0 {
		c.disarm(errors.New("the page opened a file picker that is no file input: it cannot be filled"))
		return
	}
	call := f.Begin(proto.DOMSetFileInputFiles{Files: slices.Clone(a.files), BackendNodeID: p.BackendNodeID})
	result := a.result
	a.result = nil
	c.disarm(nil)
	d.wg.Go(func() {
		err := call.Wait(context.Background(), nil)
		if err != nil {
			d.log.Info("file chooser not filled", "error", err)
		}
		if result != nil {
			result <- err
		}
	})
}

// choose clicks an element and fills the file chooser that it opens.
func (d *Desk) choose(ctx context.Context, c *counter, ref string, files []string) error {
	result := make(chan error, 1)
	a := &arming{files: files, result: result}
	limit := Longest
	if deadline, ok := ctx.Deadline(); ok {
		limit = time.Until(deadline)
	}
	d.arm(c, a, limit)
	defer func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if c.arming == a {
			c.disarm(context.Canceled)
		}
	}()
	res, err := c.tab.Act(ctx, page.Action{Kind: page.KindClick, Ref: ref})
	switch {
	case err != nil:
		return err
	case res.BlockedByDialog:
		return &page.DialogError{Dialog: *res.Dialog}
	}
	select {
	case err := <-result:
		return noChooser(ref, err)
	case <-ctx.Done():
		return noChooser(ref, context.Cause(ctx))
	case <-c.tab.Done():
		return c.tab.Err()
	}
}

// noChooser says that nothing asked for files, if that is what a wait ended with.
func noChooser(ref string, err error) error {
	if _, ok := errors.AsType[*fault.LimitError](err); ok {
		return fmt.Errorf("a click on %s opened no file chooser: %w; if there is a file input, name it by inputRef", strings.TrimSpace(ref), err)
	}
	return err
}

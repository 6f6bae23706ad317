package control

import (
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"

	"clank/browsermgr/cdp"
	"clank/browsermgr/emulate"
	"clank/browsermgr/frame"
	"clank/browsermgr/page"
	"clank/browsermgr/picture"
	"clank/browsermgr/record"
	"clank/browsermgr/trace"
	"clank/browsermgr/transfer"

	"github.com/go-rod/rod/lib/proto"
)

// Features makes what follows the tabs of each browser: recorders, emulation, traces and files. Its Observe is given to
// browsermgr.Manager before that is opened; Close comes after the Manager's. Its fields are set before.
type Features struct {
	// Dir is the folder below which downloads, uploads, traces and pictures lie. Required.
	Dir string
	// Inbound holds files that people sent; "" means there is none.
	Inbound string
	// Allowed, if set, says whether an address may be downloaded from. It must not block.
	Allowed func(url string) error
	// Logger receives what happens out of sight; nil discards it.
	Logger *slog.Logger

	mu   sync.Mutex
	open map[*connection]struct{}
	work sync.WaitGroup
}

// Observe makes the observers of a connection. local says that the browser is started by us.
func (f *Features) Observe(local bool) []page.Observer {
	log := f.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	recorder := record.New()
	tracer := trace.New(f.folder("traces"), recorder, log)
	c := &connection{features: f, tracer: tracer, casts: picture.NewCasts(log)}
	out := []page.Observer{recorder, tracer, emulate.New(log), c.casts, c}
	files, err := transfer.New(transfer.Options{
		Downloads: f.folder("downloads"), Uploads: transfer.Uploads{Folders: []string{f.folder("uploads")}, Inbound: f.Inbound},
		Allowed: f.Allowed, External: !local, Logger: log,
	})
	if err != nil {
		log.Error("files of browsers cannot be moved", "error", err)
	} else {
		c.files = files
		out = append(out, files)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open == nil {
		f.open = map[*connection]struct{}{}
	}
	f.open[c] = struct{}{}
	return out
}

// folder is one of the folders below Dir, made if it is missing.
func (f *Features) folder(name string) string {
	dir := filepath.Join(f.Dir, name)
	_ = os.MkdirAll(dir, 0o700) // who uses it says why it cannot
	return dir
}

// Close clears away what connections have left, and waits.
func (f *Features) Close() {
	f.mu.Lock()
	left := make([]*connection, 0, len(f.open))
	for c := range f.open {
		left = append(left, c)
	}
	f.mu.Unlock()
	for _, c := range left {
		c.close()
	}
	f.work.Wait()
}

// connection ends what was made for a connection when that ends. It is a [page.Observer] because it hears of the
// connection with its first tab.
type connection struct {
	features *Features
	tracer   *trace.Tracer
	casts    *picture.Casts
	files    *transfer.Desk // nil if files cannot be moved
	begun    sync.Once
	ended    sync.Once
}

// Attach asks nothing of new sessions.
func (c *connection) Attach(t *page.Tab, _ *frame.Frame) []proto.Request {
	c.begun.Do(func() {
		browser := t.Browser()
		c.features.work.Go(func() {
			<-browser.Done()
			c.close()
		})
	})
	return nil
}

// Event needs none.
func (c *connection) Event(*page.Tab, *frame.Frame, cdp.Event) {}

func (c *connection) close() {
	c.ended.Do(func() {
		c.tracer.Close()
		c.casts.Close()
		if c.files != nil {
			if err := c.files.Close(); err != nil && c.features.Logger != nil {
				c.features.Logger.Warn("close files of a browser", "error", err)
			}
		}
		c.features.mu.Lock()
		delete(c.features.open, c)
		c.features.mu.Unlock()
	})
}

// lookup finds the observer of that type among those of the tab's connection.
func lookup[T page.Observer](h *held) (found T, ok bool) {
	for _, o := range h.use.Observers {
		if found, ok = o.(T); ok {
			return found, true
		}
	}
	return found, false
}

// feature is lookup for those who cannot do without.
func feature[T page.Observer](h *held, what string) (T, error) {
	found, ok := lookup[T](h)
	if !ok {
		return found, &failure{status: http.StatusNotImplemented, err: fmt.Errorf("%s is not available in the browser of profile %q", what, h.desk.name)}
	}
	return found, nil
}

package browsermgr

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/chrome"
	"clank/videosource"

	"github.com/go-rod/rod/lib/proto"
	"github.com/ysmood/gson"
)

const (
	encoderIdleAfter   = time.Minute
	encoderCallTimeout = 10 * time.Second
	encoderStopTimeout = 10 * time.Second
	// noNetworkProxy is the browser's proxy, where nothing listens, so that it has no network.
	noNetworkProxy = "http://127.0.0.1:9"
)

//go:embed encoder.js
var encoderScript string

// OpenEncoder starts a separate browser that encodes the pictures of [Window.Screencast] as video. The caller closes
// it.
func (m *Manager) OpenEncoder(ctx context.Context) (videosource.Encoder, error) {
	if err := m.checkOpen(); err != nil {
		return nil, err
	}
	return m.encoders.Open(ctx)
}

// encoderOptions returns the launch options of the encoder's browser: the usual ones, without the operator's options
// for pages.
func (m *Manager) encoderOptions(ctx context.Context) (chrome.LaunchOptions, error) {
	c := m.config()
	if c.Disabled || c.AttachOnly {
		return chrome.LaunchOptions{}, ErrDisabled
	}
	executable, err := chrome.Find(ctx, c.Executable)
	return chrome.LaunchOptions{
		Executable: executable.Path, NoSandbox: c.NoSandbox, Logger: m.Logger,
		Timeout: c.LaunchTimeout, ReadyTimeout: c.ReadyTimeout,
	}, err
}

// encoderHost runs a separate Chromium that encodes video with its VideoEncoder (W3C WebCodecs), so that no other
// program is needed. This Chromium does not show pages: no page shares a process, a profile or a connection with it,
// and it also serves browsers that run elsewhere. It has no network, and one empty page from a file, since WebCodecs
// requires a secure context. It starts with the first encoder and stops some time after the last one was closed.
// It is safe for concurrent use.
type encoderHost struct {
	manager   *Manager
	idleAfter time.Duration // how long the browser runs without encoders; 0 means encoderIdleAfter

	turn  sync.Mutex // held while the browser is started or stopped
	mu    sync.Mutex
	now   *encoderBrowser
	users int
	idle  *time.Timer
	ended bool
}

// encoderBrowser is a running browser.
type encoderBrowser struct {
	process *chrome.Process
	conn    *cdp.Conn
	page    *cdp.Session
}

// Open returns an encoder for the pictures of one page, starting the browser if necessary. The caller closes the
// encoder.
func (h *encoderHost) Open(ctx context.Context) (videosource.Encoder, error) {
	h.turn.Lock()
	defer h.turn.Unlock()
	b, err := h.acquire(ctx)
	if err != nil {
		return nil, err
	}
	made := proto.RuntimeEvaluate{Expression: "new PictureEncoder()"}
	res, err := cdp.Ask[proto.RuntimeEvaluateResult](ctx, b.page, made)
	if err == nil && (res.ExceptionDetails != nil || res.Result == nil || res.Result.ObjectID == "") {
		err = errors.New("its page returned no encoder")
	}
	if err != nil {
		h.release()
		return nil, fmt.Errorf("open an encoder: %w", err)
	}
	return &videoEncoder{host: h, browser: b, object: res.Result.ObjectID}, nil
}

// acquire returns the running browser and counts one more user.
func (h *encoderHost) acquire(ctx context.Context) (*encoderBrowser, error) {
	h.mu.Lock()
	b, ended := h.now, h.ended
	h.mu.Unlock()
	if ended {
		return nil, ErrClosed
	}
	if b != nil && b.conn.Err() != nil {
		b.stop()
		b = nil
	}
	if b == nil {
		var err error
		if b, err = h.launch(ctx); err != nil {
			return nil, err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = b
	h.users++
	if h.idle != nil {
		h.idle.Stop()
	}
	return b, nil
}

// launch starts a browser with a page that runs the script.
func (h *encoderHost) launch(ctx context.Context) (_ *encoderBrowser, err error) {
	o, err := h.manager.encoderOptions(ctx)
	if err != nil {
		return nil, err
	}
	o.Headless, o.Pipe, o.Proxy, o.UserDataDir = true, true, noNetworkProxy, ""
	// libvpx's threads synchronize by spinning: on a busy machine with two processors a frame took five times the CPU
	// time and thirty times as long as with one thread.
	o.OneProcessor = true
	b := &encoderBrowser{}
	if b.process, err = chrome.Launch(ctx, o); err != nil {
		return nil, fmt.Errorf("start the browser that encodes: %w", err)
	}
	b.conn = cdp.New(b.process.Pipe, cdp.Options{CallTimeout: encoderCallTimeout})
	b.conn.Start(func(cdp.Event) {})
	if err := b.load(ctx); err != nil {
		b.stop()
		return nil, fmt.Errorf("start the browser that encodes: %w", err)
	}
	return b, nil
}

// load opens the page. Its file is in the browser's own directory, which is removed with the browser.
func (b *encoderBrowser) load(ctx context.Context) error {
	path := filepath.Join(b.process.UserDataDir, "encoder.html")
	if err := os.WriteFile(path, []byte("<!doctype html><title>encoder</title>"), 0o600); err != nil {
		return err
	}
	root := b.conn.Session("", cdp.ErrGone)
	target, err := firstPage(ctx, root)
	if err != nil {
		return err
	}
	attach := proto.TargetAttachToTarget{TargetID: target, Flatten: true}
	attached, err := cdp.Ask[proto.TargetAttachToTargetResult](ctx, root, attach)
	if err != nil {
		return err
	}
	b.page = b.conn.Session(string(attached.SessionID), cdp.ErrGone)
	address := url.URL{Scheme: "file", Path: filepath.ToSlash(path)}
	if err := b.page.Do(ctx, proto.PageNavigate{URL: address.String()}); err != nil {
		return err
	}
	probe := encoderScript + "\n;navigator.hardwareConcurrency > 0 && Boolean(globalThis.VideoEncoder && " +
		"globalThis.ImageDecoder)"
	res, err := cdp.Ask[proto.RuntimeEvaluateResult](ctx, b.page, proto.RuntimeEvaluate{Expression: probe})
	if err == nil && (res.ExceptionDetails != nil || !res.Result.Value.Bool()) {
		err = errors.New("it has no WebCodecs")
	}
	b.process.UseAllProcessors() // its page has read the number of processors by now
	return err
}

// firstPage returns the browser's initial page: another one would need another process.
func firstPage(ctx context.Context, root *cdp.Session) (proto.TargetTargetID, error) {
	all, err := cdp.Ask[proto.TargetGetTargetsResult](ctx, root, proto.TargetGetTargets{})
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(all.TargetInfos, func(t *proto.TargetTargetInfo) bool { return t.Type == "page" })
	if i >= 0 {
		return all.TargetInfos[i].TargetID, nil
	}
	made, err := cdp.Ask[proto.TargetCreateTargetResult](ctx, root, proto.TargetCreateTarget{URL: "about:blank"})
	return made.TargetID, err
}

// stop stops the browser.
func (b *encoderBrowser) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), encoderStopTimeout)
	defer cancel()
	_ = b.process.Stop(ctx) // on error, the browser ends with this program
	b.conn.Close()
}

// release counts one user less; without users the browser is stopped after a while.
func (h *encoderHost) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.users--; h.users == 0 && !h.ended {
		h.idle = time.AfterFunc(cmp.Or(h.idleAfter, encoderIdleAfter), h.endIdle)
	}
}

func (h *encoderHost) endIdle() {
	h.turn.Lock()
	defer h.turn.Unlock()
	h.mu.Lock()
	b := h.now
	if h.users > 0 || b == nil {
		b = nil
	} else {
		h.now = nil
	}
	h.mu.Unlock()
	if b != nil {
		b.stop()
	}
}

// Close stops the browser. Encoders that are still open fail.
func (h *encoderHost) Close() {
	h.mu.Lock()
	h.ended = true
	if h.idle != nil {
		h.idle.Stop()
	}
	h.users = 0
	h.mu.Unlock()
	h.endIdle()
}

// videoEncoder encodes the pictures of one page. A picture is passed as JPEG over the DevTools pipe and returned as one
// VP8 frame: in realtime mode without look-ahead, so that no frame is delayed. It is not safe for concurrent use.
type videoEncoder struct {
	host    *encoderHost
	browser *encoderBrowser
	object  proto.RuntimeRemoteObjectID
}

// Encode returns the VP8 frame that shows a JPEG after the previous pictures; nil if the encoder dropped it. A nil jpeg
// repeats the last picture. The first frame, and one of another size, is a key frame. bitrate is in bits per second.
func (e *videoEncoder) Encode(ctx context.Context, jpeg []byte, key bool, bitrate int) ([]byte, error) {
	res, err := cdp.Ask[proto.RuntimeCallFunctionOnResult](ctx, e.browser.page, proto.RuntimeCallFunctionOn{
		ObjectID: e.object, FunctionDeclaration: "function (...a) { return this.encode(...a) }",
		AwaitPromise: true, ReturnByValue: true,
		Arguments: []*proto.RuntimeCallArgument{
			{Value: gson.New(base64.StdEncoding.EncodeToString(jpeg))},
			{Value: gson.New(key)},
			{Value: gson.New(bitrate)},
		},
	})
	switch {
	case err != nil:
		return nil, err
	case res.ExceptionDetails != nil:
		text := res.ExceptionDetails.Text
		if x := res.ExceptionDetails.Exception; x != nil {
			text = cmp.Or(x.Description, text)
		}
		return nil, fmt.Errorf("the encoder failed: %s", text)
	}
	return base64.StdEncoding.DecodeString(res.Result.Value.Str())
}

// Close releases the encoder. It must be called once.
func (e *videoEncoder) Close() {
	e.browser.page.Post(
		proto.RuntimeCallFunctionOn{ObjectID: e.object, FunctionDeclaration: "function () { this.close() }"},
		proto.RuntimeReleaseObject{ObjectID: e.object},
	)
	e.host.release()
}

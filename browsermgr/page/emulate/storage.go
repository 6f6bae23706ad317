package emulate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
	"github.com/ysmood/gson"
)

// StorageKind is one of the two storages of an origin.
type StorageKind string

// The kinds of storage.
const (
	LocalStorage   StorageKind = "local"
	SessionStorage StorageKind = "session"
)

// worldName names the world in which storage is read. It is no other package's: the first to make a world in a process decides what it
// may reach.
const worldName = "clank-storage"

// storageLimit bounds one look into a storage.
const storageLimit = 10 * time.Second

// Storage reads the storage of the origin that the tab's main frame shows: all entries, or, if key is given, at most the
// one with exactly this key.
func (s *Emulator) Storage(ctx context.Context, t *page.Tab, kind StorageKind, key *string) (map[string]string, error) {
	const read = `function (kind, key) {
		const store = kind === 'local' ? localStorage : sessionStorage;
		const entries = [];
		if (key !== null) {
			const value = store.getItem(key);
			return value === null ? [] : [[key, value]];
		}
		for (let i = 0; i < store.length; i++) entries.push([store.key(i), store.getItem(store.key(i))]);
		return entries;
	}`
	var entries [][2]string
	var asked any
	if key != nil {
		asked = *key
	}
	if err := s.callInStorage(ctx, t, kind, read, &entries, asked); err != nil {
		return nil, err
	}
	values := map[string]string{}
	for _, e := range entries {
		values[e[0]] = e[1]
	}
	return values, nil
}

// SetStorage writes one entry. The key is taken as it is, spaces included, and must not be empty.
func (s *Emulator) SetStorage(ctx context.Context, t *page.Tab, kind StorageKind, key, value string) error {
	if key == "" {
		return fault.Invalidf("key is required")
	}
	const write = `function (kind, key, value) {
		(kind === 'local' ? localStorage : sessionStorage).setItem(key, value);
		return null;
	}`
	return s.callInStorage(ctx, t, kind, write, nil, key, value)
}

// ClearStorage removes all entries of the origin that the tab's main frame shows.
func (s *Emulator) ClearStorage(ctx context.Context, t *page.Tab, kind StorageKind) error {
	const empty = `function (kind) {
		(kind === 'local' ? localStorage : sessionStorage).clear();
		return null;
	}`
	return s.callInStorage(ctx, t, kind, empty, nil)
}

// callInStorage calls a function in a world that the scripts of the page cannot reach.
func (s *Emulator) callInStorage(ctx context.Context, t *page.Tab, kind StorageKind, fn string, result any, args ...any) error {
	if kind != LocalStorage && kind != SessionStorage {
		return fault.Invalidf("storage kind must be local or session")
	}
	err := t.RunExclusive(ctx, storageLimit, func(ctx context.Context) error {
		world, err := cdp.Ask[proto.PageCreateIsolatedWorldResult](ctx, t.MainFrame().Session, proto.PageCreateIsolatedWorld{
			FrameID: t.MainFrame().ID(), WorldName: worldName,
		})
		if err != nil {
			return err
		}
		req := proto.RuntimeCallFunctionOn{
			FunctionDeclaration: fn, ExecutionContextID: world.ExecutionContextID, ReturnByValue: true,
			Arguments: []*proto.RuntimeCallArgument{{Value: gson.New(string(kind))}},
		}
		for _, arg := range args {
			req.Arguments = append(req.Arguments, &proto.RuntimeCallArgument{Value: gson.New(arg)})
		}
		var res frame.EvaluateResult[any]
		res.Result.Value = result
		if err := t.MainFrame().Begin(req).Wait(ctx, &res); err != nil {
			return err
		}
		if res.Exception != nil {
			return frame.ExceptionError(res.Exception)
		}
		return nil
	})
	if cdp.IsDocumentGone(err) {
		err = errors.New("the page navigated meanwhile: try again")
	}
	if err != nil {
		return fmt.Errorf("%s storage of %s: %w", kind, t.URL(), err)
	}
	return nil
}

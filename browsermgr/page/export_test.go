package page

import (
	"context"
	"reflect"

	"clank/browsermgr/page/frame"
)

// CountState counts what a tab keeps of its frames, refs and requests: the entries of all its maps and lists.
func CountState(ctx context.Context, t *Tab) (int, error) {
	if err := t.tree.AwaitDiscovery(ctx); err != nil {
		return 0, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tree.Frames() // what was done to it before is to be seen
	return countEntries(reflect.ValueOf(t.tree)) + countEntries(reflect.ValueOf(&t.refs)) +
		countEntries(reflect.ValueOf(&t.loadState)), nil
}

// AddOpened makes other the last tab that t has opened, and returns how many of those are kept.
func AddOpened(t, other *Tab) int {
	t.addOpened(other)
	return len(t.openedTabs)
}

func countEntries(v reflect.Value) int {
	n := 0
	switch v.Kind() {
	case reflect.Pointer:
		if v.Type() != reflect.TypeFor[*frame.Frame]() && !v.IsNil() {
			n = countEntries(v.Elem())
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			n += countEntries(field)
		}
	case reflect.Slice:
		n = v.Len()
		for i := range v.Len() {
			n += countEntries(v.Index(i))
		}
	case reflect.Map:
		n = v.Len()
		for it := v.MapRange(); it.Next(); {
			n += countEntries(it.Value())
		}
	}
	return n
}

// AddOpenRequest begins a discovery of a process's frames that is never answered.
func (t *FrameTree) AddOpenRequest(host *frame.Frame) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.crossOriginIn(host).requested++
}

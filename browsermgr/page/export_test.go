package page

import (
	"context"
	"reflect"

	"clank/browsermgr/frame"
)

// Kept counts what a tab remembers of its frames, refs and requests: the entries of all its maps and lists.
func Kept(ctx context.Context, t *Tab) (int, error) {
	if err := t.tree.Await(ctx); err != nil {
		return 0, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tree.All() // what was done to it before is to be seen
	return entries(reflect.ValueOf(t.tree)) + entries(reflect.ValueOf(&t.refs)) + entries(reflect.ValueOf(&t.load)), nil
}

func entries(v reflect.Value) int {
	n := 0
	switch v.Kind() {
	case reflect.Pointer:
		if v.Type() != reflect.TypeFor[*frame.Frame]() && !v.IsNil() {
			n = entries(v.Elem())
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			n += entries(field)
		}
	case reflect.Slice:
		n = v.Len()
		for i := range v.Len() {
			n += entries(v.Index(i))
		}
	case reflect.Map:
		n = v.Len()
		for it := v.MapRange(); it.Next(); {
			n += entries(it.Value())
		}
	}
	return n
}

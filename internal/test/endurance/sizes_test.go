package endurance_test

import (
	"reflect"
	"strings"
)

// sizes adds up how many elements the maps and slices of our part in the calls have, by where they are. Nothing may run
// meanwhile.
func (w *world) sizes() map[string]int {
	sizes, seen := map[string]int{}, map[uintptr]bool{}
	walk(sizes, "joiner", reflect.ValueOf(w.joiner), seen)
	for _, tn := range w.towns {
		walk(sizes, "ear", reflect.ValueOf(tn.ear), seen)
		walk(sizes, "mouth", reflect.ValueOf(tn.mouth), seen)
	}
	return sizes
}

func walk(sizes map[string]int, name string, v reflect.Value, seen map[uintptr]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || seen[v.Pointer()] || !strings.HasPrefix(v.Type().Elem().PkgPath(), "clank/voice") {
			return
		}
		seen[v.Pointer()] = true
		walk(sizes, v.Type().String(), v.Elem(), seen)
	case reflect.Struct:
		for i := range v.NumField() {
			walk(sizes, name+"."+v.Type().Field(i).Name, v.Field(i), seen)
		}
	case reflect.Map:
		sizes[name] += v.Len()
		for it := v.MapRange(); it.Next(); {
			walk(sizes, name, it.Value(), seen)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return // the heap shows them
		}
		sizes[name] += v.Cap()
		for i := range v.Len() {
			walk(sizes, name, v.Index(i), seen)
		}
	}
}

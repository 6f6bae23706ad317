package endurance_test

import (
	"reflect"
	"strings"
)

// measureSizes adds up how many elements maps and slices of ours have, by where they are. Nothing may run meanwhile.
func measureSizes(sizes map[string]int, name string, root any) {
	walk(sizes, name, reflect.ValueOf(root), map[uintptr]bool{})
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

package control_test

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"

	"clank/browsermgr/control"
	"clank/browsermgr/fault"
	"clank/internal/test/browsertest"

	"github.com/google/go-cmp/cmp"
)

func decode(t *testing.T, text string) *control.RequestFields {
	t.Helper()
	f, err := control.DecodeFields([]byte(text))
	browsertest.Must(t, err)
	return f
}

func TestStringsAreTrimmedAndScalarsWrittenOut(t *testing.T) {
	for given, want := range map[string]string{
		`" a b "`: "a b", `12`: "12", `1e3`: "1000", `1.5`: "1.5", `-0.25`: "-0.25", `true`: "true", `null`: "", `{}`: "", `["a"]`: "", `""`: "",
	} {
		f := decode(t, `{"v":`+given+`}`)
		if got := f.String("v"); got != want || f.Err() != nil {
			t.Errorf("String of %s: got %q, %v; want %q", given, got, f.Err(), want)
		}
	}
}

func TestWholeNumbersAreStrict(t *testing.T) {
	const bad = "v must be a positive integer."
	for given, want := range map[string]any{
		`25`: 25, `"25"`: 25, `" 25 "`: 25, `25.0`: 25, `1e3`: 1000, `"+7"`: 7, `null`: nil, `""`: nil, `"  "`: nil,
		`"0x10"`: bad, `"1e3"`: bad, `"1000ms"`: bad, `"1.5"`: bad, `1.5`: bad, `0`: bad, `-1`: bad, `"--1"`: bad, `true`: bad, `[1]`: bad,
		`{}`: bad, `1e999`: bad, `"9007199254740993"`: bad, `"."`: bad, `"-"`: bad, `"NaN"`: bad, `"Infinity"`: bad, `"1_000"`: bad,
	} {
		f := decode(t, `{"v":`+given+`}`)
		n, ok := f.Positive("v")
		var got any
		switch {
		case f.Err() != nil:
			got = f.Err().Error()
			if !errors.Is(f.Err(), fault.ErrInvalid) {
				t.Errorf("%s: %v does not wrap ErrInvalid", given, f.Err())
			}
		case ok:
			got = n
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Positive of %s (-want +got):\n%s", given, diff)
		}
	}
}

func TestTheKindsOfNumbersDiffer(t *testing.T) {
	f := decode(t, `{"zero":0,"minus":"-3","x":"42.5","half":0.5}`)
	if n, ok := f.NonNegative("zero"); n != 0 || !ok {
		t.Errorf("NonNegative of 0: got %d, %t", n, ok)
	}
	if n, ok := f.Number("x"); n != 42.5 || !ok {
		t.Errorf(`Number of "42.5": got %g, %t`, n, ok)
	}
	if f.Err() != nil {
		t.Fatal(f.Err())
	}
	for read, want := range map[string]string{
		"negative": "minus must be a non-negative integer.", "whole": "half must be a non-negative integer.", "finite": "w must be a finite number.",
	} {
		f := decode(t, `{"minus":-3,"half":0.5,"w":"1e5"}`)
		switch read {
		case "negative":
			f.NonNegative("minus")
		case "whole":
			f.NonNegative("half")
		case "finite":
			f.Number("w")
		}
		if f.Err() == nil || f.Err().Error() != want {
			t.Errorf("%s: got %v, want %q", read, f.Err(), want)
		}
	}
}

func TestBooleansAcceptTheWordsOfClients(t *testing.T) {
	for given, want := range map[string]string{
		`true`: "true", `false`: "false", `"TRUE"`: "true", `"1"`: "true", `"Yes"`: "true", `"false"`: "false", `"0"`: "false", `" no "`: "false",
		`1`: "undefined", `0`: "undefined", `"maybe"`: "undefined", `null`: "undefined", `[]`: "undefined",
	} {
		value, ok := decode(t, `{"v":`+given+`}`).Bool("v")
		got := map[bool]string{true: "true", false: "false"}[value]
		if !ok {
			got = "undefined"
		}
		if got != want {
			t.Errorf("Bool of %s: got %s, want %s", given, got, want)
		}
	}
	if !decode(t, `{}`).Flag("v", true) {
		t.Error("an undefined flag is not what it is otherwise")
	}
}

func TestListsDropBlanksWhereTheyMeanNothing(t *testing.T) {
	f := decode(t, `{"v":[" a ","",null,3,{},true," "],"no":"a"}`)
	if diff := cmp.Diff([]string{"a", "3", "true"}, f.Strings("v")); diff != "" {
		t.Errorf("Strings (-want +got):\n%s", diff)
	}
	if got := f.Strings("no"); got != nil {
		t.Errorf("a text is a list: %q", got)
	}
}

func TestBodiesThatAreNoObjectsHaveNoFields(t *testing.T) {
	for _, text := range []string{"", " \n", "null", "[1,2]", `"x"`, "3", "{}"} {
		if f := decode(t, text); f.Has("x") || f.String("x") != "" {
			t.Errorf("%q has fields", text)
		}
	}
	for _, text := range []string{"{", `{"a":1}}`, "{} {}", "undefined", "\xff"} {
		if _, err := control.DecodeFields([]byte(text)); !errors.Is(err, fault.ErrInvalid) {
			t.Errorf("Decode(%q): got %v, want ErrInvalid", text, err)
		}
	}
}

func TestTheFirstMistakeIsTold(t *testing.T) {
	f := decode(t, `{"b":"x"}`)
	f.Required("a")
	f.Positive("b")
	if got, want := f.Err().Error(), "a is required"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if diff := cmp.Diff([]string{"a", "b"}, f.NamesRead()); diff != "" {
		t.Errorf("Asked (-want +got):\n%s", diff)
	}
}

func TestNestedObjects(t *testing.T) {
	f := decode(t, `{"many":[{"a":2},7],"none":[]}`)
	many, ok := f.Objects("many")
	if !ok || len(many) != 2 || many[0].String("a") != "2" || many[1].Has("a") {
		t.Errorf("Objects: %v, %t", many, ok)
	}
	if list, ok := f.Objects("none"); !ok || len(list) != 0 {
		t.Errorf("an empty list: %v, %t", list, ok)
	}
}

func TestNumbersStayWithinTheirBounds(t *testing.T) {
	q := control.QueryFields(url.Values{"low": {"1", "9"}, "high": {"99999"}, "fit": {"700"}})
	for name, want := range map[string]int{"low": 500, "high": 60000, "fit": 700, "absent": 8000} {
		if got := q.Clamp(name, 8000, 500, 60000); got != want {
			t.Errorf("Clamp(%s): got %d, want %d", name, got, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{"v":"25"}`, `{"v":1e400}`, `[]`, `{"v":[1,"",null]}`, `{"v":{"v":true}}`, `{"v":"0x1p-2"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		fields, err := control.DecodeFields(data)
		if err != nil {
			if !errors.Is(err, fault.ErrInvalid) {
				t.Fatalf("%v does not wrap ErrInvalid", err)
			}
			return
		}
		if s := fields.String("v"); s != strings.TrimSpace(s) {
			t.Fatalf("%q is not trimmed", s)
		}
		if slices.Contains(fields.Strings("v"), "") {
			t.Fatal("a blank entry")
		}
		n, ok := fields.Positive("v")
		if ok && (n < 1 || fields.Err() != nil) || !ok && n != 0 {
			t.Fatalf("Positive: %d, %t, %v", n, ok, fields.Err())
		}
		fields.Number("v")
		fields.Bool("v")
		if list, ok := fields.Objects("v"); ok && len(list) > 0 {
			list[0].Text("v")
		}
		if fields.Err() != nil && !errors.Is(fields.Err(), fault.ErrInvalid) {
			t.Fatalf("%v does not wrap ErrInvalid", fields.Err())
		}
	})
}

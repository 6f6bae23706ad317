package control

import "clank/browsermgr/page/action/actiontable"

// Bool is a field that is true or false, see [actiontable.ParseBool]. Anything else is undefined.
func (f *RequestFields) Bool(name string) (value, ok bool) { return actiontable.ParseBool(f.Raw(name)) }

// Flag returns a field as Bool does, or otherwise if it is undefined.
func (f *RequestFields) Flag(name string, otherwise bool) bool {
	if value, ok := f.Bool(name); ok {
		return value
	}
	return otherwise
}

// Positive returns a whole number above zero; false if there is none, or if it is malformed, which Err tells.
func (f *RequestFields) Positive(name string) (int, bool) {
	return f.integer(name, 1, "a positive integer.")
}

// NonNegative returns a whole number that is not below zero.
func (f *RequestFields) NonNegative(name string) (int, bool) {
	return f.integer(name, 0, "a non-negative integer.")
}

func (f *RequestFields) integer(name string, least float64, what string) (int, bool) {
	n, given, ok := actiontable.ParseInteger(f.Raw(name), least)
	if given && !ok {
		f.failf("%s must be %s", name, what)
	}
	return n, given && ok
}

// Number returns a finite number.
func (f *RequestFields) Number(name string) (float64, bool) {
	n, given, ok := actiontable.ParseNumber(f.Raw(name), false)
	if given && !ok {
		f.failf("%s must be a finite number.", name)
	}
	return n, given && ok
}

// Clamp returns a positive number of a field held between the two, or the other one if there is none.
func (f *RequestFields) Clamp(name string, otherwise, least, most int) int {
	n, ok := f.Positive(name)
	if !ok {
		return otherwise
	}
	return min(max(n, least), most)
}

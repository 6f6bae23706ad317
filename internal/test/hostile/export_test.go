package main

// Some returns the cases that the options take.
func (o RangeOptions) Some(cases []rangeCase) []rangeCase { return o.everyNth(cases) }

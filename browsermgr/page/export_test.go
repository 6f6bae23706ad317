package page

// What the fuzz targets reach into.
var (
	ParseRef    = parseRef
	ParseChord  = parseChord
	GlobMatcher = globMatcher
	ScanLine    = scanLine
	Cut         = cut
	UTF16Len    = utf16Len
)

// Events returns the chord's key events.
func (c chord) Events() int { return len(c.events()) }

// RefOf returns the line's ref, or "".
func (l snapLine) RefOf(line string) string {
	if l.refStart == 0 {
		return ""
	}
	return l.ref(line)
}

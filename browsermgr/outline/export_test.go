package outline

// What the fuzz targets reach into.
var (
	ScanLine = scanLine
	Cut      = cut
	UTF16Len = utf16Len
)

// RefOf returns the line's ref, or "".
func (l line) RefOf() string {
	if l.refStart == 0 {
		return ""
	}
	return l.ref()
}

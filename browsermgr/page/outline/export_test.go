package outline

// What the fuzz targets reach into.
var (
	ScanLine = scanLine
	Cut      = cutLines
	Shrink   = shrink
	UTF16Len = utf16Len
)

// RefOf returns the line's ref, or "".
func (l nodeLine) RefOf() string {
	if l.refStart == 0 {
		return ""
	}
	return l.ref()
}

// IsNew says that the line is marked.
func (l nodeLine) IsNew() bool { return l.isNew }

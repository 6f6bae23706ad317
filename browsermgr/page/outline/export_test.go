package outline

// Unexported identifiers for the fuzz targets.
var (
	ScanLine = scanLine
	Cut      = cutLines
	Shrink   = shrink
	UTF16Len = utf16Len
)

// RefOf returns the line's ref; "" for none.
func (l nodeLine) RefOf() string {
	if l.refStart == 0 {
		return ""
	}
	return l.ref()
}

// IsNew reports whether the line is marked as new.
func (l nodeLine) IsNew() bool { return l.isNew }

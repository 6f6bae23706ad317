package dave

// AppendVector is appendVector.
var AppendVector = appendVector

// ReadVector takes one vector, which must be all there is.
func ReadVector(data []byte) ([]byte, bool) {
	r := tlsReader{rest: data}
	v := r.vector()
	return v, !r.failed && len(r.rest) == 0
}

package frame

// Len returns how many documents are known.
func (n *DocumentNumbers) Len() int { return max(len(n.byKey), len(n.byNumber)) }

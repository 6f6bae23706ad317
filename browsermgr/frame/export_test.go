package frame

// Kept is how many documents are known.
func (n *Numbers) Kept() int { return max(len(n.byKey), len(n.byNumber)) }

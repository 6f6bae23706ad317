package gemini

// Decode is decode, for tests.
var Decode = decode

// Actions are the names of the vendor's actions.
func Actions() map[string]bool {
	names := map[string]bool{}
	for name := range actions {
		names[name] = true
	}
	return names
}

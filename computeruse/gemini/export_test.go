package gemini

// Decode is decode, for tests.
var Decode = decodeAction

// Actions returns the names of the vendor's actions.
func Actions() map[string]bool {
	names := map[string]bool{}
	for name := range vendorActions {
		names[name] = true
	}
	return names
}

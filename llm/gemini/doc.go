// Package gemini talks to Google's Gemini models through generateContent, with a key. It has its own types:
// the vendor's library brings 184 packages and is used in tests with the build tag peers.
//
// Conversations are sent in full, the lasting part first, so that the vendor's cache finds it. Vertex AI is not here.
package gemini

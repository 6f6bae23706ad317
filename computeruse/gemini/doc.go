// Package gemini is the Mind of Gemini models, through generateContent. Actions on the vendor's grid become actions on
// the picture, answers become function responses, and old pictures are left out.
//
// How the vendor is called is in llm/gemini.
package gemini

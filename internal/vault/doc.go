// Package vault keeps logins for pages, so a model can have them used without knowing them: encrypted
// entries (AES-256-GCM) bound to exact origins, and a seal over the list.
//
// Names and origins are clear text, protected by the encryption. The key is in the keyring, a file, or the
// environment. Scrub takes revealed secrets out of any text, in the spellings that pages and protocols use.
// It does not know who asks.
package vault

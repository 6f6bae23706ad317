package budget

import "context"

// ForgetOld deletes old entries, as Run does.
func (k *Enforcer) ForgetOld(ctx context.Context) { k.forgetOld(ctx) }

// The hand that fills logins, made in an isolated world of one document. It is made only where the document's origin is one
// of those given, and looks again before it writes: what it is given to write stays in this world and in the field.
(allowed) => {
  const here = () => allowed.includes(self.origin) && location.origin === self.origin;
  if (!allowed.includes(self.origin)) return null;

  const setter = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set;

  // Closed shadow roots that the driver has opened for us, by host, and the hosts with content that it was asked about.
  const closed = (self.__clankClosed ??= new WeakMap());
  const asked = (self.__clankAsked ??= new WeakSet());
  let handed = []; // those that the driver is looking at
  const shadowOf = (e) => e.shadowRoot ?? closed.get(e) ?? null;
  const HOSTS = 'article, aside, blockquote, body, div, footer, ' +
    'h1, h2, h3, h4, h5, h6, header, main, nav, p, section, span';
  const SUSPECTS = 256;

  // inputs are those of the document and of its shadow trees that are open to us, in order.
  const all = (root, selector, found = []) => {
    for (const e of root.querySelectorAll('*')) {
      if (e.matches(selector)) found.push(e);
      if (shadowOf(e)) all(shadowOf(e), selector, found);
    }
    return found;
  };
  const inputs = () => all(document, 'input');

  const attribute = (e, name) => (e.getAttribute(name) ?? '').toLowerCase();
  const tokens = (e) => attribute(e, 'autocomplete').split(/\s+/);
  const called = (e) =>
    ['name', 'id', 'placeholder', 'aria-label'].map((n) => attribute(e, n)).join(' ') + ' ' + [...(e.labels ?? [])].map((l) => l.textContent.toLowerCase()).join(' ');
  const digits = (e) => attribute(e, 'inputmode') === 'numeric' || ['number', 'tel'].includes(e.type) || /\\d/.test(attribute(e, 'pattern'));
  const isCode = (e) =>
    tokens(e).includes('one-time-code') ||
    /\b(otp|totp|2fa|mfa)\b|one.?time|verification.?code|security.?code|authenticat(or|ion).?code|einmal.?(code|passwort|kennwort)|bestätigungs.?code/.test(called(e)) ||
    (digits(e) && /\bcode\b/.test(called(e)));
  const isNew = (e) =>
    tokens(e).includes('new-password') ||
    (!tokens(e).includes('current-password') && /\bnew\b|new.?pass|confirm|repeat|retype|again|\bneues\b|wiederhol/.test(called(e)));
  const isUser = (e) =>
    ['text', 'email', 'tel'].includes(e.type) && !isCode(e) && attribute(e, 'role') !== 'searchbox' && !/search|suche/.test(called(e));
  const saysUser = (e) =>
    tokens(e).some((t) => ['username', 'email', 'webauthn'].includes(t)) || e.type === 'email' ||
    /user|login|log.?in|e-?mail|account|identifier|phone|benutzer|anmelde|nutzer|konto|usuario|correo|utilisateur/.test(called(e));

  // hidden says what keeps a person from seeing a field; "" if nothing does.
  const hidden = (e) => {
    if (!e.isConnected || e.ownerDocument !== document) return 'is gone';
    if (!e.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true })) return 'is not visible';
    for (let n = e; n; n = n.assignedSlot ?? n.parentElement ?? n.getRootNode().host) {
      if (parseFloat(getComputedStyle(n).opacity) < 0.2) return 'is not visible';
    }
    e.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' });
    const b = e.getBoundingClientRect();
    if (b.width < 8 || b.height < 6) return 'is too small to be seen';
    const y = b.top + b.height / 2;
    const xs = [0.5, 0.25, 0.75].map((part) => b.left + b.width * part).filter((x) => x >= 0 && x < innerWidth);
    if (y < 0 || y >= innerHeight || xs.length === 0) return 'lies outside of the page';
    const labels = [...(e.labels ?? [])];
    const open = xs.some((x) => {
      const top = e.getRootNode().elementFromPoint(x, y);
      return top === e || labels.some((l) => l.contains(top));
    });
    return open ? '' : 'is covered by something else';
  };
  const idle = (e) => (e.disabled || e.readOnly ? 'takes no input' : hidden(e));

  // astray says where a form would send what is written into it, if that is not one of the origins.
  const astray = (form) => {
    if (!form) return '';
    const targets = [form.getAttribute('action')];
    for (const b of form.querySelectorAll('button, input')) targets.push(b.getAttribute('formaction'));
    for (const id of form.id ? all(document, `[form="${CSS.escape(form.id)}"][formaction]`) : []) targets.push(id.getAttribute('formaction'));
    for (const target of targets) {
      if (target === null || target.trim() === '') continue;
      let url;
      try {
        url = new URL(target, document.baseURI);
      } catch {
        return 'an address that cannot be read';
      }
      if (url.protocol !== 'javascript:' && !allowed.includes(url.origin)) return url.origin === 'null' ? url.protocol : url.origin;
    }
    return '';
  };
  // unfit says why the password is not written into a field; "" if it is.
  const unfit = (e) => {
    if (!here()) return 'the document is of another origin now';
    if (e.type !== 'password') return 'the field is no password field now';
    if (isCode(e)) return 'the field is for a one-time code, not for a password';
    if (isNew(e)) return 'the field is for a new password';
    const why = idle(e);
    if (why) return 'the password field ' + why;
    const away = astray(e.form);
    return away && 'the form sends its fields to ' + away + ', which the entry is not for';
  };

  // written are the fields of this document that secrets were written into, whichever hand did it, and passwords the words
  // that were. Both stay in this world.
  const written = (globalThis.written ??= new WeakSet());
  const passwords = (globalThis.passwords ??= new Set());
  // held is what fields held when a person began to work the page.
  const held = (globalThis.held ??= new WeakMap());
  const untyped = /^(checkbox|radio|button|submit|reset|image|hidden|file|range|color)$/;
  const typable = () => all(document, 'input, textarea').filter((e) => !untyped.test(e.type));

  // plain is a text without what does not keep a reader from reading it as one: spaces and characters that are not seen.
  const plain = (s) => (s ?? '').replace(/[\s\p{Cf}\p{Variation_Selector}\u034f\u115f\u1160\u3164\uffa0]+/gu, '').toLowerCase();
  // spellings are the ways in which a text may show a word: as it is, backwards, and as programs encode it.
  const spellings = (word) => {
    const all = [word];
    if ([...word].length >= 8) {
      const bytes = [...new TextEncoder().encode(word)];
      all.push([...word].reverse().join(''), encodeURIComponent(word), bytes.map((b) => b.toString(16).padStart(2, '0')).join(''));
      for (const before of ['', ' ', '  ']) {
        // The characters at the ends depend on what is next to the word.
        const code = btoa(before + String.fromCharCode(...bytes)).replace(/=+$/, '').slice(Math.ceil((before.length * 8) / 6), -1);
        all.push(code, code.replaceAll('+', '-').replaceAll('/', '_'));
      }
    }
    return all.map(plain);
  };
  const known = new Map();
  const spelled = (words) => [...words].filter(Boolean).flatMap((w) => known.get(w) ?? known.set(w, spellings(w)).get(w));
  const within = (s, words) => {
    const text = s ? plain(s) : '';
    return !!text && spelled(words).some((w) => text.includes(w));
  };
  const isField = (e) => e?.matches?.('input, textarea') ?? false;

  // holds reports whether a field or a text of the document has one of these words, be it seen or not. A field that one was
  // written into counts as long as it holds anything.
  const holds = (words, root = document) => {
    const walk = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT);
    for (let n = walk.nextNode(); n; n = walk.nextNode()) {
      if (isField(n) && n.value && (written.has(n) || within(n.value, words))) return true;
      if (shadowOf(n) && holds(words, shadowOf(n))) return true;
    }
    const text = document.createTreeWalker(root, NodeFilter.SHOW_TEXT, (n) =>
      n.parentElement?.matches('script, style, template, noscript') ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
    let all = '';
    while (text.nextNode()) all += text.currentNode.data;
    return within(all, words);
  };

  // mask makes a field that shows a password one that does not. A page that shows it again and again loses it.
  const shown = (globalThis.shown ??= new WeakMap());
  const mask = (e) => {
    if (!(e instanceof HTMLInputElement) || e.type === 'password' || !within(e.value, passwords)) return;
    shown.set(e, (shown.get(e) ?? 0) + 1);
    if (shown.get(e) > 50) erase(e);
    else e.type = 'password';
  };
  // guard keeps a password that is about to be written into a field from being shown there, from being copied or dragged out of
  // the document, and from staying behind when the document is left.
  const guard = (e, word) => {
    if (word) {
      passwords.add(word);
      new MutationObserver(() => mask(e)).observe(e, { attributes: true, attributeFilter: ['type'] });
    }
    if (globalThis.guarded) return;
    globalThis.guarded = true;
    // What a page's script has put the password into is masked before anything can be selected there.
    for (const type of ['pointerdown', 'mousedown', 'focusin']) addEventListener(type, (ev) => mask(ev.composedPath()[0]), true);
    const refuse = (ev) => {
      const from = ev.composedPath()[0];
      if (ev.type === 'dragstart' && from instanceof HTMLElement && from.draggable && !isField(from)) return;
      if (!holds(passwords)) return;
      ev.preventDefault();
      ev.stopImmediatePropagation();
    };
    for (const type of ['copy', 'cut', 'dragstart']) addEventListener(type, refuse, true);
    addEventListener('pagehide', () => {
      for (const f of all(document, 'input, textarea')) if (f.value && (written.has(f) || within(f.value, passwords))) erase(f);
    }, true);
  };

  let user = null;
  let pass = null;
  let codes = [];

  // pick finds the field for the password. Of several in one form, one that is marked as the current password counts; others
  // are those of a form for a new one.
  const pick = () => {
    const fields = inputs().filter((e) => e.type === 'password');
    const fit = fields.filter((e) => !unfit(e));
    if (fit.length === 0) return { refused: fields.length ? unfit(fields[0]) : '' };
    const marked = fit.filter((e) => tokens(e).includes('current-password'));
    const chosen = marked[0] ?? fit[0];
    const beside = fields.filter((e) => e !== chosen && e.form === chosen.form && !idle(e));
    if (beside.length && !marked.length) return { refused: 'the form has several password fields, as one for a new password does' };
    return { pass: chosen };
  };

  const pickUser = () => {
    const fields = inputs().filter((e) => isUser(e) && !idle(e));
    if (!pass) return fields.find((e) => saysUser(e) && !astray(e.form)) ?? null;
    const before = fields.filter((e) => e.form === pass.form && pass.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_PRECEDING);
    return before.findLast(saysUser) ?? before.at(-1) ?? null;
  };

  const type = (e, value) => {
    e.focus();
    e.select();
    // The browser's own way: events that a page trusts, and a change when the field is left.
    if (e.value !== value) document.execCommand('insertText', false, value);
    if (e.value !== value) {
      setter.call(e, value);
      e.dispatchEvent(new InputEvent('input', { bubbles: true, composed: true, inputType: 'insertText' }));
    }
    e.dispatchEvent(new Event('change', { bubbles: true }));
    return e.value === value;
  };
  const erase = (e) => {
    if (e instanceof HTMLTextAreaElement) e.value = '';
    else setter.call(e, '');
    e.dispatchEvent(new InputEvent('input', { bubbles: true, composed: true, inputType: 'deleteContent' }));
  };

  const submitter = (form) => {
    const kinds = 'button:not([type]), button[type=submit], input[type=submit], input[type=image]';
    const fits = (b) => !b.disabled && b.checkVisibility({ visibilityProperty: true });
    if (form) return [...form.elements, ...form.querySelectorAll('input[type=image]')].find((b) => b.matches(kinds) && fits(b)) ?? null;
    const word = /^\s*(log ?in|log ?on|sign ?in|next|continue|submit|weiter|anmelden|einloggen)\b/i;
    return all(document, 'button, [role=button], input[type=submit], input[type=button]').find((b) => fits(b) && word.test(b.value || b.textContent)) ?? null;
  };

  return {
    // look says what there is to fill.
    look() {
      if (!here()) return { refused: 'the document is of another origin now' };
      const found = pick();
      pass = found.pass ?? null;
      user = found.refused ? null : pickUser();
      return { user: !!user, pass: !!pass, refused: found.refused ?? '' };
    },
    // places are points of the fields that have to be seen, in this document's viewport.
    places() {
      return [pass, user, ...codes].filter(Boolean).map((e) => {
        const b = e.getBoundingClientRect();
        return { x: b.left + b.width / 2, y: b.top + b.height / 2 };
      });
    },
    write(name, word) {
      const out = { user: false, pass: false, refused: '' };
      if (!here()) return { ...out, refused: 'the document is of another origin now' };
      if (user && name && !idle(user) && user.type !== 'password') out.user = type(user, name);
      if (!pass || !word) return out;
      // Focusing and leaving fields runs code of the page: look once more when it has run.
      pass.focus();
      const why = unfit(pass);
      if (why) return { ...out, refused: why };
      written.add(pass);
      guard(pass, word);
      out.pass = type(pass, word);
      if (!out.pass) {
        erase(pass);
        out.refused = 'the field does not take the whole password';
      }
      return out;
    },
    lookForCode(length) {
      const fits = (e) => ['text', 'tel', 'number', 'password'].includes(e.type) && !idle(e) && !astray(e.form);
      const fields = inputs().filter((e) => fits(e) && (isCode(e) || e.maxLength === 1));
      const single = fields.filter((e) => e.maxLength === 1);
      const one = fields.find((e) => isCode(e) && (e.maxLength < 0 || e.maxLength >= length));
      codes = one ? [one] : single.length === length ? single : [];
      return { code: codes.length > 0 };
    },
    writeCode(code) {
      if (!here()) return { refused: 'the document is of another origin now' };
      for (const [i, e] of codes.entries()) {
        const why = idle(e) || (astray(e.form) && 'belongs to a form that sends its fields elsewhere');
        if (why) return { refused: 'the field for the code ' + why };
        written.add(e);
        guard(e, '');
        if (!type(e, codes.length > 1 ? code[i] : code)) {
          erase(e);
          return { refused: 'the field does not take the code' };
        }
      }
      return { code: true, refused: '' };
    },
    submit() {
      if (!here()) return { refused: 'the document is of another origin now' };
      const field = pass ?? codes[0] ?? user;
      const form = field?.form ?? null;
      const away = astray(form);
      if (away) return { refused: 'the form sends its fields to ' + away + ', which the entry is not for' };
      const button = submitter(form);
      if (form && !form.noValidate && !button?.formNoValidate && !form.checkValidity()) {
        return { refused: 'the form does not take what is in it: ' + [...form.elements].find((e) => !e.validity?.valid)?.validationMessage };
      }
      if (button) button.click();
      else if (form) form.requestSubmit();
      else return { refused: 'there is no button to be found that sends the login: press it yourself' };
      return { refused: '' };
    },
    // hosts are elements that may have a closed shadow root: one with content is asked about once, an empty one that
    // takes room always.
    hosts() {
      const may = all(document, '*').filter((e) => !shadowOf(e) && !asked.has(e) &&
        (e.localName.includes('-') || e.matches(HOSTS)) &&
        (e.firstChild || e.localName.includes('-') || e.getClientRects().length > 0));
      const list = may.slice(0, SUSPECTS);
      handed = list.filter((e) => e.firstChild && e.matches(':defined'));
      return list;
    },
    // answered says that the driver has looked at all of them. If its time was over before, it has to look again.
    answered() {
      for (const e of handed) asked.add(e);
    },
    adopt(host, root) {
      closed.set(host, root);
    },
    beginHold() {
      for (const e of typable()) held.set(e, e.value);
    },
    // endHold takes the fields that hold something else now for such as a secret was written into, and returns what
    // they hold.
    endHold() {
      const changed = typable().filter((e) => e.value !== (held.get(e) ?? e.defaultValue));
      for (const e of changed) written.add(e);
      return changed.map((e) => e.value);
    },
    holds(words) {
      return allowed.includes(self.origin) && holds(words);
    },
    // shows finds where the document shows one of these words: in fields, whatever their type, and in texts, also where it is spread
    // over several of them. A field that one was written into is hidden as long as it holds anything.
    shows(words) {
      if (!allowed.includes(self.origin)) return [];
      const boxes = [];
      const add = (b) => {
        if (b.width > 0 && b.height > 0) boxes.push({ left: b.left, top: b.top, right: b.right, bottom: b.bottom });
      };
      const wanted = spelled(words);
      const has = (s) => within(s, words);
      const drawn = (e) => ['::before', '::after'].some((p) => !['none', 'normal'].includes(getComputedStyle(e, p).content));
      // Fields and texts in order, each with what it shows.
      const fields = [];
      const texts = [];
      const gather = (root) => {
        const walk = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
        for (let n = walk.nextNode(); n; n = walk.nextNode()) {
          if (n.nodeType === Node.TEXT_NODE) {
            if (!n.parentElement?.matches('script, style, template, noscript')) texts.push([n, plain(n.data)]);
            continue;
          }
          if (isField(n)) fields.push([n, plain(n.value)]);
          if ((written.has(n) && n.value) || has(n.getAttribute('placeholder'))) add(n.getBoundingClientRect());
          else if ([...n.attributes].some((a) => has(a.value)) && (n.matches('img, area, object, embed, optgroup, option') || drawn(n))) {
            add((n.closest('select') ?? n).getBoundingClientRect());
          } else if (n.localName === 'select' && has(n.textContent)) add(n.getBoundingClientRect());
          if (shadowOf(n)) gather(shadowOf(n));
        }
      };
      gather(document);
      // holding are those of some pieces that hold a word, alone or together.
      const holding = (pieces) => {
        const all = pieces.map((p) => p[1]).join('');
        const spans = [];
        for (const w of wanted) for (let i = all.indexOf(w); w && i >= 0; i = all.indexOf(w, i + 1)) spans.push([i, i + w.length]);
        let at = 0;
        return spans.length === 0 ? [] : pieces.filter(([, text]) => {
          const from = at;
          at += text.length;
          return text && spans.some(([a, b]) => a < at && from < b);
        });
      };
      for (const [field] of holding(fields)) add(field.getBoundingClientRect());
      for (const [text] of holding(texts)) {
        const range = document.createRange();
        range.selectNodeContents(text);
        for (const b of range.getClientRects()) add(b);
      }
      return boxes;
    },
  };
}

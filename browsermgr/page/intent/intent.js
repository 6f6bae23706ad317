// Judges what an action on an element would set off. It runs in an isolated world, so no script of the page can change
// what it calls; what it reads is the page's all the same.
//
// a.mode is "judge" (say what it is), "hold" (say it, and swallow the person's input if it has come to mean something else
// than a.mark) or "end" (stop holding, and say whether input was swallowed).
async ([given], a) => {
  const MARKS = /[\p{M}\p{Cf}]/gu;
  const LETTERS = { ø: 'o', ł: 'l', đ: 'd', ı: 'i', ß: 'ss', æ: 'ae', œ: 'oe', ς: 'σ' }; // as in words.go
  const fold = (text) => String(text ?? '').normalize('NFKD').replace(MARKS, '').toLowerCase().replace(/[øłđıßæœς]/g, (c) => LETTERS[c]).replace(/['’`\s]+/g, ' ').trim();
  // Names in programs are words that stick together.
  const spread = (name) => fold(String(name ?? '').slice(0, 200).replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/[-_.[\]:/]+/g, ' '));
  if (a.mode !== 'end' && !a.words && !globalThis.__clankWords) return { wordless: true };
  const words = globalThis.__clankWords ??= Object.fromEntries(Object.entries(a.words ?? {}).map(([k, v]) => [k, new RegExp(v, 'u')]));
  const baskets = words.baskets ??= new RegExp(words.basket, 'gu');
  const says = (kind, text) => words[kind].test(text);

  const CONTROL = 'button, a[href], area[href], input, select, textarea, summary, [role=button], [role=link], [role=menuitem], [role=option], [role=tab], [role=switch], [role=checkbox], [onclick]';
  const tidy = (text) => String(text ?? '').replace(/\p{Cf}/gu, '').replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').replace(/\s+/g, ' ').trim();
  const up = (el) => el.parentElement ?? el.getRootNode().host ?? null;

  function closest(el, selector) {
    for (let e = el; e; e = up(e)) if (e.matches(selector)) return e;
    return null;
  }

  // namesOf is everything that a control calls itself, what people see first: a label may say other than the picture.
  function namesOf(el) {
    const names = [];
    const add = (text) => { const t = tidy(text).slice(0, 300); if (t && !names.includes(t)) names.push(t); };
    if (el.localName === 'input') {
      if (['submit', 'button', 'reset'].includes(el.type)) add(el.value);
      if (el.type === 'image') add(el.alt);
    } else if (!['select', 'textarea'].includes(el.localName)) {
      add(el.innerText ?? el.textContent);
      for (const icon of [...el.querySelectorAll('[aria-label], img[alt], svg title')].slice(0, 8)) {
        add(icon.getAttribute('aria-label') ?? icon.alt ?? icon.textContent);
      }
    }
    add(el.getAttribute('aria-label'));
    for (const id of (el.getAttribute('aria-labelledby') ?? '').split(/\s+/).filter(Boolean).slice(0, 8)) {
      add(el.getRootNode().getElementById?.(id)?.textContent);
    }
    add(el.title);
    for (const part of ['::before', '::after']) add(/^"(.*)"$/s.exec(getComputedStyle(el, part).content)?.[1]);
    return names;
  }

  // phrases are the names as something that may be an order to do something: short ones, without what only looks like it.
  const phrases = (names) => names.map(fold).map((n) => n.replace(baskets, ' ')).filter((n) => n.trim() && !shows(n));
  // To show something is no order to do it; "show and pay" is.
  const ALSO = /[&+,;]|(?:^| )(?:and|then|und|et|y|e|en|i|och|og|ve|и|a|ja|es|si|και|ו|و|và|va|та|dan) /u;
  const shows = (n) => n.split(' ').length <= 8 && says('view', n) && !ALSO.test(n);
  const labelsOf = (f) => [...(f.labels ?? [])].slice(0, 4).map((l) => tidy(l.textContent).slice(0, 80));

  function submitterOf(el) {
    if (el.localName === 'button') return el.type === 'submit' && el.form ? el : null;
    return el.localName === 'input' && (el.type === 'submit' || el.type === 'image') && el.form ? el : null;
  }

  const textual = (f) => f.localName === 'textarea' || f.localName === 'select' ||
    (f.localName === 'input' && !['hidden', 'submit', 'button', 'reset', 'image', 'checkbox', 'radio', 'range', 'color'].includes(f.type));
  const filled = (f) => f === pending || tidy(f.value ?? f.textContent) !== '' || (f.type === 'file' && f.files.length > 0);

  const TOKENS = [
    [/^(?:email|impp)$/, 'e-mail address'], [/^tel/, 'telephone number'], [/^(?:name|given-name|additional-name|family-name)$/, 'name'],
    [/^(?:street-address|address-|postal-code)/, 'postal address'], [/^bday/, 'date of birth'], [/^cc-/, 'payment card'],
    [/^(?:new|current)-password$/, 'password'],
  ];
  const NAMED = ['e-mail address', 'payment card', 'telephone number', 'date of birth', 'identity number', 'bank account', 'postal address', 'name'];

  // kindOf says what personal datum a field is for; "" for none.
  function kindOf(f) {
    if (f.type === 'password') return 'password';
    if (f.type === 'email') return 'e-mail address';
    if (f.type === 'tel') return 'telephone number';
    const token = (f.getAttribute('autocomplete') ?? '').toLowerCase().split(/\s+/).pop();
    for (const [is, kind] of TOKENS) if (is.test(token)) return kind;
    const own = [f.name, f.id].map(spread);
    const shown = [...labelsOf(f), f.placeholder, f.getAttribute('aria-label'), ...namesOf(f)].map((t) => fold(t).slice(0, 80));
    for (const kind of NAMED) if ([...own, ...shown].some((t) => t && says(kind, t))) return kind;
    if (own.includes('name') && shown.every((t) => !t || /^(?:name|ihr name|\*)?[ *:]*$/.test(t))) return 'name';
    return '';
  }

  const searching = (f) => f.type === 'search' || f.getAttribute('role') === 'searchbox' || [f.name, f.id].map(spread).some((t) => t && says('search', t)) ||
    (fold(f.placeholder).length < 40 && says('search', fold(f.placeholder)));

  // search reports whether fields only look something up.
  function search(box, fields) {
    if (box && closest(box, '[role=search], search')) return fields.every((f) => !['password', 'payment card'].includes(kindOf(f)));
    const texts = fields.filter((f) => f.localName !== 'select');
    return texts.length > 0 && texts.length <= 2 && texts.some(searching) && texts.every((f) => searching(f) || kindOf(f) === '');
  }

  // signIn reports whether fields are those of a login: people who have one are known to the site already.
  function signIn(fields, names) {
    if (names.some((n) => says('register', n) && n.length < 40)) return false;
    const shown = fields.filter((f) => f.getClientRects().length > 0 || f === pending);
    const secrets = shown.filter((f) => f.type === 'password');
    if (secrets.some((f) => f.autocomplete === 'new-password') || secrets.length > 1) return false;
    const others = shown.filter((f) => f.type !== 'password');
    if (secrets.length === 1) return others.length <= 2 && !others.some((f) => ['payment card', 'bank account', 'identity number'].includes(kindOf(f)));
    return others.length === 1 && /(?:^|\s)username(?:\s|$)/.test(others[0].autocomplete ?? '');
  }

  // fieldsNear are the fields that belong to a control without a form: those of the smallest part of the page that has any.
  function fieldsNear(el) {
    for (let e = up(el), n = 0; e && n < 12; e = up(e), n++) {
      const found = [...e.querySelectorAll('input, select, textarea, [contenteditable=""], [contenteditable=true]')].filter((f) => !f.form && (textual(f) || f.isContentEditable));
      if (found.length) return found;
      if (e.matches('section, article, dialog, [role=dialog], main, body')) break;
    }
    return [];
  }

  const locationOf = (el) => el?.ownerDocument.defaultView?.location ?? location;
  const path = (address) => { try { const u = new URL(address); return spread(decodeURIComponent(u.pathname + ' ' + u.hash)); } catch { return ''; } };
  const NOW = /(?:^| )(?:now|today|it|this|here|again|jetzt|hier|nu|ahora|ora|agora|maintenant|teraz|simdi)(?= |$)/g;
  const PROGRAM = /\.(?:exe|msi|msix|dmg|pkg|deb|rpm|apk|appimage|bat|cmd|ps1|sh|jar|scr|vbs|com|run|command|iso|crx|xpi)$/i;

  // What an address does, and where one only tells of it.
  const ACTS = /(?:^| )(?:delete|remove|destroy|cancel|unsubscribe|pay|payment|purchase|order|place|buy|confirm|approve|publish|vote|merge|revoke|close)(?= |$)/;
  const TELLS = /(?:^| )(?:help|blog|docs?|faq|support|articles?|wiki|guides?|news|questions?)(?= |$)/;
  const SIGNS = { delete: /[🗑🚮]/u, send: /[✉📧📤📨➤✈👍❤♥]/u, buy: /[💳💸💰]/u };
  const HINTS = { delete: /^(?:delete|trash|remove|bin|erase|destroy)$/, send: /^(?:send|reply|publish|paperplane|share|like)$/, buy: /^(?:buy|purchase|pay)$/ };
  const MOVES = /[×✕✖☰≡‹›«»<>❮❯▲▼◀▶►◄←→↑↓⋮⋯…+−\-⏸⏵⏯🔍⌕🔎🌐★☆?!]/u;
  const MONEY = /(?:[$€£¥₹₽₩₺₫฿₪₴]|\b(?:EUR|USD|GBP|CHF|JPY)\b) ?\d[\d.,' ]*|\d[\d.,' ]* ?(?:[$€£¥₹₽₩₺₫฿₪₴]|(?:EUR|USD|GBP|CHF|JPY|kr|zł|Kč|Ft|lei|円|元|원)(?!\p{L}))/gu;
  const TOLD = /(?:^| )(?:amount|price|total|sum|qty|quantity|recipient|payee|beneficiary|to|iban|currency)(?= |$)/;
  const READ = /[^\p{scx=Latin}\p{scx=Cyrillic}\p{scx=Greek}\p{scx=Hebrew}\p{scx=Arabic}\p{scx=Devanagari}\p{scx=Thai}\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\P{L}]/u;
  const MIXED = /\p{scx=Latin}[\p{scx=Cyrillic}\p{scx=Greek}]|[\p{scx=Cyrillic}\p{scx=Greek}]\p{scx=Latin}/u; // a word in two scripts deceives
  const DIALOG = 'dialog, [role=dialog], [role=alertdialog], [aria-modal=true], .modal, .popup, .dialog';

  const bare = (n) => n.replace(NOW, ' ').replace(/[^\p{L}\p{N}]+/gu, ' ').trim();
  const isAlone = (kind, said) => said.some((n) => bare(n.match(words[kind])?.[0] ?? '') === bare(n));
  const isOrder = (kind, said, most) => said.some((n) => n.split(' ').length <= most && says(kind, n));

  // called is what names mean that are chosen or switched on, rather than pressed.
  function called(el, names) {
    const said = phrases(names);
    const classes = ['delete', 'send'].filter((kind) => isOrder(kind, said, 5));
    if (isOrder('buy', said.filter((n) => n.includes(' ')), 5)) classes.unshift('buy');
    return { classes, kinds: [], names: classes.length ? names : [], to: '', at: String(locationOf(el)) };
  }

  // strange reports whether a control is in a language that we have no words of.
  function strange(el, names) {
    const lang = (closest(el, '[lang]')?.lang ?? '').toLowerCase().split('-')[0];
    return READ.test(names.join(' ')) || MIXED.test(names.join(' ')) || (lang !== '' && !says('languages', lang));
  }

  // questions are what a "yes" answers: the headings and questions of the dialog or the small part of the page around it.
  function questions(el) {
    let box = closest(el, DIALOG);
    for (let e = up(el), n = 0; !box && e && n < 3 && !/^(?:body|main)$/.test(e.localName); e = up(e), n++) {
      const text = e.innerText ?? '';
      if (text.length > 200) break;
      if (/[?？؟;]/.test(text)) box = e;
    }
    if (!box) return [];
    const text = (box.innerText ?? '').slice(0, 1000);
    const heads = [...box.querySelectorAll('h1, h2, h3, h4, h5, h6, legend')].slice(0, 3).map((h) => h.innerText ?? '');
    const asked = text.match(/[^.!?？؟;。！\n]*[?？؟;]/g) ?? [];
    const all = [...heads, ...asked, ...(heads.length + asked.length ? [] : [text.slice(0, 120)])].map(fold);
    return all.some((t) => says('cookie', t)) ? [] : all;
  }

  // terms are the amounts and recipients that people agree to: if one changes, they are asked again.
  function terms(control, form, fields) {
    if (pending) return [];
    const box = form ?? closest(control, `${DIALOG}, section, article`) ?? up(up(control) ?? control) ?? control;
    const text = tidy(box.innerText);
    const money = text.length > 3000 ? [] : text.match(MONEY) ?? [];
    const told = [...(form?.elements ?? fields)].filter((f) => f.type !== 'password' && f.value && TOLD.test(spread(f.name || f.id)));
    return [...new Set([...money.map(tidy), ...told.map((f) => `${tidy(f.name || f.id).slice(0, 40)} ${tidy(f.value).slice(0, 60)}`)])].slice(0, 8);
  }

  // judge says what it would set off to use a control. enter: by a key in a field, for which the control stands.
  function judge(control, how) {
    const out = { classes: [], kinds: [], names: [], to: '', at: String(locationOf(control)) };
    const add = (c) => { if (!out.classes.includes(c)) out.classes.push(c); };
    if (!control) return out;
    const link = control.localName === 'a' || control.localName === 'area' ? control : null;
    const method = control.dataset?.method ?? control.dataset?.turboMethod ?? (control.hasAttribute('hx-delete') ? 'delete' : '');
    const goes = link && /^https?:$/.test(link.protocol) && link.getAttribute('role') !== 'button' && !link.hasAttribute('onclick') && !method &&
      link.href.split('#')[0] !== out.at.split('#')[0];
    const submitter = submitterOf(control);
    const form = submitter?.form ?? null;
    if (goes) out.to = link.href;
    if (form) {
      out.to = submitter.hasAttribute('formaction') ? submitter.formAction : String(Object.getOwnPropertyDescriptor(HTMLFormElement.prototype, 'action').get.call(form));
    }
    if (goes && PROGRAM.test(link.pathname)) add('executable');
    const acts = how === 'enter' || !['select', 'textarea'].includes(control.localName) && (control.localName !== 'input' || !textual(control));
    if (!acts || control.localName === 'input' && ['range', 'color', 'reset', 'file'].includes(control.type)) return out;
    if (control.localName === 'input' && ['checkbox', 'radio'].includes(control.type)) {
      // Where a button follows, it is asked about.
      return control.form && [...control.form.elements].some(submitterOf) ? out : called(control, [...labelsOf(control), ...namesOf(control)]);
    }
    out.names = namesOf(control);
    const said = phrases(out.names);
    const most = control.matches('button, input, [role=button], [role=menuitem]') ? 40 : 8;
    const alone = (kind) => isAlone(kind, said);
    const order = (kind) => isOrder(kind, said, most);
    // A link that leads somewhere only shows a page, unless its address says otherwise; what it is called may be anything.
    const opens = goes && !(ACTS.test(path(out.to)) && !TELLS.test(path(out.to)));
    const means = opens ? alone : order;

    const fields = form ? [...form.elements].filter(textual) : goes ? [] : fieldsNear(control);
    const beside = form || [control, up(control), up(up(control) ?? control)].some((e) => e?.contains(fields[0]) && e.localName !== 'body');
    const looksUp = fields.length > 0 && beside && search(form ?? control, fields);
    const yes = !goes && (alone('yes') || alone('confirm'));
    const hands = form !== null || (!goes && (order('submit') || yes));
    const given = fields.filter((f) => filled(f)).map(kindOf).filter(Boolean);
    const till = says('till', path(out.at)) || (out.to !== '' && says('till', path(out.to)));
    const basket = says('cart', path(out.at)) || says('cart', path(out.to));
    const card = fields.some((f) => ['payment card'].includes(kindOf(f)) && (f.localName === 'input'));

    if (means('buy') || (!goes && (order('confirm') || yes) && till && (hands || fields.length > 0 || order('buy'))) || (hands && card)) add('buy');
    if (means('delete') || (!goes && order('remove') && !basket && !till) || /^delete$/i.test(method)) add('delete');
    if (!looksUp && means('send')) add('send');
    const answers = yes || !goes && isOrder('yes', said, 4) ? questions(control) : [];
    const chosen = form ? [...form.elements].filter((f) => f.checked || f.localName === 'select')
      .flatMap((f) => f.localName === 'select' ? [...f.selectedOptions].map((o) => o.label) : labelsOf(f)) : [];
    for (const kind of ['buy', 'delete', 'send']) {
      if (answers.some((t) => says(kind, t) || kind === 'delete' && says('remove', t))) add(kind);
      if (kind !== 'send' && form?.getAttribute('method')?.toLowerCase() === 'post' && isOrder(kind, phrases(chosen), 4)) add(kind);
    }
    const lettered = /[\p{L}\p{N}]/u.test(out.names.join(''));
    if (!lettered && !goes) {
      const inner = [control, ...control.querySelectorAll('i, span, svg, use')].slice(0, 8);
      const hints = inner.flatMap((e) => [e.getAttribute('class'), e.getAttribute('href'), e.id, e.dataset?.action, e.name, e.value]).flatMap((h) => spread(h).split(' '));
      for (const kind of Object.keys(SIGNS)) if (SIGNS[kind].test(out.names.join('')) || hints.some((h) => HINTS[kind].test(h))) add(kind);
    }
    const signs = signIn(fields, said);
    if ((hands || out.classes.includes('buy') || out.classes.includes('send')) && given.length && !looksUp && !signs) {
      add('submit');
      out.kinds = [...new Set(given)].sort();
    }
    // What cannot be read is asked about where it may do something.
    if (!out.classes.length && !goes && !looksUp && !signs && !control.matches('[aria-expanded], [aria-haspopup], [aria-controls], [role=tab], summary')) {
      const row = closest(control, 'tr, li, [role=row], [role=listitem]');
      const blank = !lettered && !MOVES.test(out.names.join('')) && (form?.getAttribute('method')?.toLowerCase() === 'post' || tidy(row?.innerText) !== '');
      if (control.matches('button, input, [role=button], [role=menuitem], [onclick]') && (blank || lettered && strange(control, out.names))) add('unclear');
    }
    if (out.classes.some((c) => ['buy', 'send', 'submit'].includes(c))) out.terms = terms(control, form, fields);
    return out;
  }

  // button is what Enter in a field presses.
  function button(field) {
    if (field.form) return [...field.form.elements].find((e) => submitterOf(e) && !e.disabled) ?? null;
    for (let e = up(field), n = 0; e && n < 4; e = up(e), n++) {
      const found = [...e.querySelectorAll('button, [role=button], input[type=button]')].filter((b) => !b.form);
      if (found.length) return found.find((b) => phrases(namesOf(b)).some((t) => says('send', t) || says('buy', t))) ?? found[0];
      if (e.matches('section, article, dialog, [role=dialog], main, body')) break;
    }
    return null;
  }

  // messages reports whether a field is where people write to each other.
  function messages(el) {
    if (searching(el)) return false;
    const names = [el.placeholder, el.getAttribute('aria-label'), el.getAttribute('data-placeholder'), el.getAttribute('aria-placeholder'), ...labelsOf(el)];
    return names.some((n) => says('message', fold(n))) || !!closest(el, 'section, main, body')?.querySelector('[role=log]');
  }

  // choosing is what it sets off to choose options of a list that no button follows.
  function choosing(el) {
    if (el?.getAttribute('role') === 'listbox') {
      const options = [...el.querySelectorAll('[role=option]')].filter((o) => a.values.includes(o.dataset.value));
      return called(el, [...a.values, ...options.map((o) => tidy(o.innerText))]);
    }
    if (el?.localName !== 'select' || el.form && [...el.form.elements].some(submitterOf)) return judge(null);
    return called(el, [...el.options].filter((o) => a.values.includes(o.value) || a.values.includes(tidy(o.label))).map((o) => tidy(o.label)));
  }

  // stepping is what it sets off that a key moves the choice of a list, or of radio buttons, which no button follows.
  const STEPS = { arrowdown: 1, arrowright: 1, down: 1, right: 1, arrowup: -1, arrowleft: -1, up: -1, left: -1 };
  function stepping(el, key) {
    if (el.form && [...el.form.elements].some(submitterOf)) return judge(null);
    const list = el.localName === 'select';
    const ring = (r) => r.name === el.name && r.form === el.form;
    const all = list ? [...el.options] : [...el.getRootNode().querySelectorAll('input[type=radio]')].filter(ring);
    const label = (o) => (list ? [tidy(o.label)] : [...labelsOf(o), ...namesOf(o)]);
    const at = list ? el.selectedIndex : all.indexOf(el);
    const may = all.filter((o) => !o.disabled && o !== all[at]);
    let to = may; // pages of a list are as long as it shows them
    if (key.length === 1) to = may.filter((o) => label(o).some((n) => fold(n).startsWith(fold(key))));
    else if (STEPS[key] && a.times === 1) {
      const next = may.filter((o) => (all.indexOf(o) - at) * STEPS[key] > 0);
      to = (STEPS[key] > 0 ? next : next.reverse()).slice(0, 1);
      if (!to.length && !list) to = STEPS[key] > 0 ? may.slice(0, 1) : may.slice(-1); // radio buttons are a ring
    } else if (key === 'home' || key === 'end') to = key === 'home' ? all.slice(0, 1) : all.slice(-1);
    else if (!STEPS[key] && !key.startsWith('page')) to = [];
    return called(el, to.flatMap(label));
  }

  // hovering is what it sets off to hold the pointer over a control that listens to it.
  function hovering(control) {
    const hovers = '[onmouseenter], [onmouseover], [onpointerenter], [onpointerover]';
    const listens = a.listens || [control, control && up(control)].some((e) => e?.matches(hovers));
    return judge(listens ? control : null, 'click');
  }

  // dropping is what it sets off to let go of something over an element.
  function dropping(control) {
    const out = judge(control, 'click');
    if (control && !out.classes.length && isOrder('bin', phrases(namesOf(control)), 4)) out.classes.push('delete');
    return out;
  }

  // striking is what a key sets off that is neither Enter nor Space.
  function striking(el) {
    const keys = a.key.toLowerCase().replace(/\bctrl\b/g, 'control').split('+');
    const key = keys.at(-1);
    const doc = el?.ownerDocument ?? document;
    if (keys.includes('alt')) return judge([...doc.querySelectorAll('[accesskey]')].find((e) => e.accessKey.toLowerCase().split(/\s+/).includes(key)), 'click');
    if (keys.length === 1 && (el?.localName === 'select' || el?.type === 'radio')) return stepping(el, key);
    const writes = el && (textual(el) || el.isContentEditable);
    if (writes && keys.length === 1) return judge(null);
    const named = [...doc.querySelectorAll('[aria-keyshortcuts]')].find((e) => e.getAttribute('aria-keyshortcuts').toLowerCase().split(/\s+/).includes(keys.join('+')));
    const out = judge(named, 'click');
    const still = !el || /^(?:html|body|a|button|select)$/.test(el.localName);
    const picked = doc.querySelector('[aria-selected=true], [aria-checked=true], .selected');
    if (!writes && ['delete', 'backspace'].includes(key) && (!still || picked)) {
      out.classes = ['delete'];
      out.names = [tidy((picked ?? el).innerText).slice(0, 80)];
    }
    return out;
  }

  // entering is what Enter sets off.
  function entering(el, chord) {
    if (!el) return judge(null);
    const writes = el.isContentEditable || el.localName === 'textarea';
    if (!writes && !(el.localName === 'input' && textual(el)) && el.localName !== 'select') return judge(closest(el, CONTROL) ?? el, 'enter');
    if (el.localName === 'select') return judge(null);
    const b = button(el);
    const out = judge(b, 'enter');
    out.at = String(locationOf(el));
    if ((chord || !el.form) && messages(el) && !out.classes.includes('send')) out.classes.push('send');
    if (writes) {
      // A new line, unless the page takes it for "send".
      const sends = out.classes.includes('send') || out.classes.includes('buy');
      return sends || chord ? out : { ...out, classes: [], kinds: [] };
    }
    if (!b && el.form && [...el.form.elements].filter((f) => f.localName === 'input' && textual(f)).length === 1) {
      const fields = [...el.form.elements].filter(textual);
      const kinds = [...new Set(fields.filter(filled).map(kindOf).filter(Boolean))].sort();
      out.to = String(Object.getOwnPropertyDescriptor(HTMLFormElement.prototype, 'action').get.call(el.form));
      if (kinds.length && !search(el.form, fields) && !signIn(fields, [])) { out.classes = ['submit']; out.kinds = kinds; }
    }
    return out;
  }

  // deepest follows focus, or a point, into shadow roots and frames of this process.
  function deepest(pick, point) {
    let x = (point?.x ?? 0) + (visualViewport?.offsetLeft ?? 0); // what is pinched shows a part of the viewport
    let y = (point?.y ?? 0) + (visualViewport?.offsetTop ?? 0);
    let el = pick(document, x, y);
    for (let n = 0; el && n < 64; n++) {
      let inside = el.shadowRoot && pick(el.shadowRoot, x, y);
      if (!inside && /^i?frame$/.test(el.localName)) {
        if (!el.contentDocument) return { el, remote: true };
        const box = el.getBoundingClientRect();
        const style = getComputedStyle(el);
        const scale = el.offsetWidth ? box.width / el.offsetWidth : 1;
        x = (x - box.left) / scale - el.clientLeft - parseFloat(style.paddingLeft);
        y = (y - box.top) / scale - el.clientTop - parseFloat(style.paddingTop);
        inside = pick(el.contentDocument, x, y);
      }
      if (!inside || inside === el) break;
      el = inside;
    }
    return { el, remote: false };
  }
  const focused = () => deepest((root) => root.activeElement);
  const under = (point) => deepest((root, x, y) => root.elementFromPoint(x, y), point);

  let pending = null; // a field that is about to be filled
  function verdict(el, how) {
    let target = el;
    let remote = false;
    if (!el && ['key', 'chord', 'space', 'insert', 'strike'].includes(how)) ({ el: target, remote } = focused());
    if (how === 'point' || how === 'droppoint') ({ el: target, remote } = under(a.point));
    pending = how === 'type' || how === 'insert' ? target : null;
    const drop = () => dropping(pressed(target));
    const other = {
      select: () => choosing(target), hover: () => hovering(pressed(target)), strike: () => striking(target),
      cell: () => judge(target?.matches('td, [role=gridcell], [role=cell]') ? pressed(target) : null, 'click'), drop, droppoint: drop,
    }[how];
    const out = other ? other() : how === 'type' || how === 'insert' || how === 'key' || how === 'chord' || how === 'space' && target?.isContentEditable !== true && target && !textual(target)
      ? entering(target, how === 'chord')
      : how === 'space' ? judge(null) : judge(pressed(target), 'click');
    return { ...out, remote, focused: document.hasFocus() };
  }
  // pressed is the control that a click on an element is for.
  function pressed(el) {
    if (!el) return null;
    const label = closest(el, 'label');
    const control = closest(el, CONTROL);
    if (label?.control && (!control || !label.contains(control))) return label.control;
    // What is between the controls of a page is called by none of them.
    return control ?? (/^(?:html|body)$/.test(el.localName) ? null : el);
  }

  const hostOf = (address) => URL.parse(address)?.host ?? '';
  const markOf = (v) => {
    if (v.classes.length) return JSON.stringify([v.classes, v.kinds, v.names, v.to, v.at, v.terms ?? []]);
    const to = hostOf(v.to);
    return to && to !== hostOf(v.at) ? JSON.stringify(['leave', to]) : '';
  };
  const held = globalThis.__clankHeld;

  if (a.mode === 'end') {
    held?.end();
    return { swallowed: held?.swallowed ?? false };
  }
  const first = verdict(given ?? null, a.how);
  first.mark = markOf(first);
  if (a.mode !== 'hold') return first;
  held?.end();
  if (first.mark !== a.mark && given) return { ...first, changed: true };

  // What the input meets is judged once more at the moment it arrives, before the page sees it.
  const hold = { swallowed: false };
  const met = a.point ? under(a.point).el : null;
  const views = new Set([window, ...[given, met, focused().el].map((el) => el?.ownerDocument.defaultView)].filter(Boolean));
  const check = (event) => {
    if (!event.isTrusted) return;
    const key = event.type.startsWith('key');
    if (key && !/^(?:Enter| )$/.test(event.key)) return;
    const at = event.composedPath()[0];
    const el = at instanceof Element || at?.nodeType === 1 ? at : null;
    pending = a.how === 'type' ? given : a.how === 'insert' ? el : null;
    const v = key ? entering(el, event.ctrlKey || event.metaKey) : judge(pressed(el), 'click');
    if (key && event.key === ' ' && el && (textual(el) || el.isContentEditable)) return;
    if (markOf(v) === a.mark || markOf(v) === '') {
      // It has arrived. What a person does here later is theirs.
      if (event.type === 'click' || event.type === 'keydown') setTimeout(hold.end, 1000);
      return;
    }
    event.preventDefault();
    event.stopImmediatePropagation();
    hold.swallowed = true;
  };
  const TYPES = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'keydown', 'keypress'];
  for (const view of views) for (const type of TYPES) view.addEventListener(type, check, true);
  hold.end = () => {
    for (const view of views) for (const type of TYPES) view.removeEventListener(type, check, true);
    if (globalThis.__clankHeld === hold) globalThis.__clankHeld = undefined;
  };
  globalThis.__clankHeld = hold;
  setTimeout(hold.end, 90_000); // nobody came to end it
  return first;
}

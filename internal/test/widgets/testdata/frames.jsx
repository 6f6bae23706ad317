// npm: penpal@7.0.6 imask@7.6.1
import { connect, WindowMessenger } from "penpal";
import IMask from "imask";
const other = location.origin.replace('127.0.0.1', 'localhost');
const masks = { Number: '0000 0000 0000 0000', Expiry: '00/00', CVC: '000' };
const fields = window.fields = {};
const talk = (remoteWindow, methods) => connect({ messenger: new WindowMessenger({ remoteWindow, allowedOrigins: ['*'] }), methods });
const card = (from, names = Object.keys(masks)) => { for (const n of names) {
  const f = document.createElement('iframe'); f.title = 'Card ' + n; f.height = 60; f.src = `${from}/frames/field?${n}`;
  root.append(f); talk(f.contentWindow, { change: (name, v) => { fields[name] = v; done(Object.values(fields).join('|')) } });
} };

//== field
const name = location.search.slice(1);
root.innerHTML = `<label>${name} <input></label>`;
const mask = IMask(root.querySelector('input'), { mask: masks[name] });
talk(parent).promise.then(p => mask.on('accept', () => p.change(name, mask.unmaskedValue)));

//== nested
card(other, ['CVC'])


//== card-two-deep
//say type 777 into CVC
//do slowly textbox "CVC" = 777
//is document.querySelector('iframe').contentWindow.result === '777'
const f = document.createElement('iframe'); f.width = 500; f.height = 300; f.src = '/frames/nested'; root.append(f);

//== card-same-site
//say fill in Number with 4242424242424242 and CVC with 123
//do slowly textbox "Number" = 4242424242424242
//do slowly textbox "CVC" = 123
//is fields.Number === '4242424242424242' && fields.CVC === '123'
card(location.origin)

//== card-other-site
//say set Number to 4242424242424242, Expiry to 1230 and CVC to 321
//do slowly textbox "Number" = 4242424242424242
//do slowly textbox "Expiry" = 1230
//do slowly textbox "CVC" = 321
//is Object.keys(fields).length === 3 && fields.Expiry === '1230' && fields.CVC === '321'
card(other)

//== card-filled
//say enter 4111111111111111 as the Number
//do type textbox "Number" = 4111111111111111
//is fields.Number === '4111111111111111'
card(other)

//== card-in-a-frame
//say click Pay
//do click button "Pay"
//is document.querySelector('iframe').contentWindow.result === 'paid'
root.innerHTML = '<iframe title="Pay" srcdoc="<button onclick=&quot;result=\'paid\'&quot;>Pay</button>"></iframe>';

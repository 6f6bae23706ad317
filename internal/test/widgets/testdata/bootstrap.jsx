// npm: bootstrap@5.3.9 @popperjs/core@2.11.8
import "bootstrap/dist/css/bootstrap.css";
import * as B from "bootstrap";
const mount = (html, root) => { root.innerHTML = html; };

//== dropdown
//say open Actions and click Archive
//do click button "Actions"
//do click link "Archive"
//is result === 'archive'
return `<div class="dropdown"><button class="btn btn-primary dropdown-toggle" data-bs-toggle="dropdown">Actions</button><ul class="dropdown-menu"><li><a class="dropdown-item" href="#">Edit</a></li><li><a class="dropdown-item" href="#" onclick="done('archive')">Archive</a></li></ul></div>`

//== modal
//say click Launch and then Save changes
//do click button "Launch"
//do click button "Save changes"
//is result === 'saved'
return `<button class="btn" data-bs-toggle="modal" data-bs-target="#m">Launch</button><div class="modal fade" id="m" tabindex="-1"><div class="modal-dialog"><div class="modal-content"><div class="modal-body">Text</div><button data-bs-dismiss="modal">Close</button><button onclick="done('saved')">Save changes</button></div></div></div>`

//== collapse
//say click Toggle and then Inner
//do click button "Toggle"
//do click button "Inner"
//is result === 1
return `<button data-bs-toggle="collapse" data-bs-target="#c">Toggle</button><div class="collapse" id="c"><button onclick="done(1)">Inner</button></div>`

//== accordion
//say expand Second and click Order
//do click button "Second"
//do click button "Order"
//is result === 2
return `<div class="accordion" id="a">${["First", "Second"].map((t, i) => `<div class="accordion-item"><h2><button class="accordion-button collapsed" data-bs-toggle="collapse" data-bs-target="#p${i}">${t}</button></h2><div id="p${i}" class="accordion-collapse collapse" data-bs-parent="#a"><button onclick="done(${i + 1})">Order</button></div></div>`).join('')}</div>`

//== tabs
//say go to Profile and click Rename
//do click tab "Profile"
//do click button "Rename"
//is result === 'renamed'
return `<ul class="nav nav-tabs" role="tablist"><li class="nav-item"><button class="nav-link active" data-bs-toggle="tab" data-bs-target="#h" role="tab">Home</button></li><li><button class="nav-link" data-bs-toggle="tab" data-bs-target="#p" role="tab">Profile</button></li></ul><div class="tab-content"><div class="tab-pane active" id="h">Home</div><div class="tab-pane" id="p"><button onclick="done('renamed')">Rename</button></div></div>`

//== offcanvas
//say open the menu and click Account
//do click button "Menu"
//do click link "Account"
//is result === 'account'
return `<button data-bs-toggle="offcanvas" data-bs-target="#o">Menu</button><div class="offcanvas offcanvas-start" tabindex="-1" id="o"><a href="#" onclick="done('account')">Account</a></div>`

//== carousel
//say click Next and then Choose two
//do click button "Next"
//do see Slide two
//do click button "Choose two"
//is result === 2
return `<div id="k" class="carousel slide">  <div class="carousel-inner"><div class="carousel-item active">Slide one</div><div class="carousel-item">Slide two <button onclick="done(2)">Choose two</button></div></div><button class="carousel-control-next" style="position:static" data-bs-target="#k" data-bs-slide="next">Next</button></div>`

//== custom-switch
//say turn Wifi on
//do click switch "Wifi"
//is result === true
return `<div class="form-check form-switch"><input class="form-check-input" type="checkbox" role="switch" id="w" onchange="done(this.checked)"><label class="form-check-label" for="w">Wifi</label></div>`

//== button-radios
//say choose Middle
//do click radio "Middle"
//is result === 'Middle'
return `<div class="btn-group">${["Left", "Middle"].map(t => `<input type="radio" class="btn-check" name="g" id="${t}" onchange="done(this.id)"><label class="btn btn-outline-primary" for="${t}">${t}</label>`).join('')}</div>`

//== stretched-link
//say click Go
//do click link "Go"
//is location.hash === '#card'
return `<div class="card" style="width:18rem"><div class="card-body"><h5>Title</h5><a href="#card" class="stretched-link">Go</a></div></div>`

//== toast
//say click Show and then Take action
//do click button "Show"
//do click button "Take action"
//is result === 'taken'
root.innerHTML = `<button>Show</button><div class="toast"><div class="toast-body">Hi <button onclick="done('taken')">Take action</button></div></div>`;
root.firstChild.onclick = () => new B.Toast(root.querySelector('.toast')).show();

//== popover
//say click Info
//do click button "Info"
//do see More about it
//is document.querySelector('.popover')
root.innerHTML = `<button data-bs-toggle="popover" data-bs-content="More about it">Info</button>`;
new B.Popover(root.firstChild);

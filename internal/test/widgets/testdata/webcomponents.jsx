// npm: @material/web@2.5.0 @shoelace-style/shoelace@2.20.1
import "@material/web/all.js";
import "@shoelace-style/shoelace/dist/shoelace.js";
const mount = (html, root) => { root.innerHTML = html; };

//== material-radio
//say choose Two
//do click radio "Two"
//is document.querySelector('#b').checked
return `<md-radio id="a" name="g"></md-radio><label for="a">One</label><md-radio id="b" name="g"></md-radio><label for="b">Two</label>`

//== material-tabs
//say open the Photos tab
//do click tab "Photos"
//do see tab "Photos" [selected]
//is document.querySelector('md-tabs').activeTabIndex === 1
return `<md-tabs><md-primary-tab>Video</md-primary-tab><md-primary-tab>Photos</md-primary-tab></md-tabs>`

//== material-checkbox
//say tick Agree
//do see text: Agree
//do click checkbox ""
//is document.querySelector('md-checkbox').checked
return `<label><md-checkbox touch-target="wrapper"></md-checkbox>Agree</label>`

//== material-select
//say choose Large in Size
//do click combobox "Size"
//do click option "Large"
//is document.querySelector('md-outlined-select').value === 'l'
return `<md-outlined-select label="Size"><md-select-option value="s"><div slot="headline">Small</div></md-select-option><md-select-option value="l"><div slot="headline">Large</div></md-select-option></md-outlined-select>`

//== shoelace-tree
//say select Birch
//do click treeitem "Birch"
//is document.querySelector('sl-tree').selectedItems[0].textContent === 'Birch'
return `<sl-tree><sl-tree-item expanded>Deciduous<sl-tree-item>Birch</sl-tree-item><sl-tree-item>Oak</sl-tree-item></sl-tree-item></sl-tree>`

//== shoelace-select
//say choose Large in Size
//do click combobox "Size"
//do click option "Large"
//is document.querySelector('sl-select').value === 'l'
return `<sl-select label="Size"><sl-option value="s">Small</sl-option><sl-option value="l">Large</sl-option></sl-select>`

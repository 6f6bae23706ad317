// npm: react@19.3.1 react-dom@19.3.1 antd@6.6.8
import React, { useState } from "react";
import { createRoot } from "react-dom/client";
import * as A from "antd";
const mount = (el, root) => createRoot(root).render(el);
const options = ["Apple", "Banana", "Cherry"].map(v => ({ value: v.toLowerCase(), label: v }));
const tree = [{ title: "Fruit", key: "f", value: "f", label: "Fruit", children: [{ title: "Pear", key: "p", value: "p", label: "Pear" }] }];

//== select
//do click combobox "Fruit"
//do click generic "Banana"
//is result === 'banana'
return <A.Select aria-label="Fruit" style={{ width: 200 }} options={options} onChange={done} />

//== select-search
//do type combobox "Fruit" = che
//do press Enter
//is result === 'cherry'
return <A.Select aria-label="Fruit" showSearch={{ optionFilterProp: "label" }} style={{ width: 200 }} options={options} onChange={done} />

//== select-multiple
//do click combobox "Fruit"
//do click generic "Apple"
//do click generic "Cherry"
//is result === 'apple,cherry'
return <A.Select aria-label="Fruit" mode="multiple" style={{ width: 300 }} options={options} onChange={v => done(v.join())} />

//== autocomplete
//do type combobox "Find" = Ban
//do click generic "Banana"
//is result === 'Banana'
return <A.AutoComplete aria-label="Find" style={{ width: 200 }} options={options.map(o => ({ value: o.label }))} showSearch={{ filterOption: (i, o) => o.value.includes(i) }} onSelect={done} />

//== select-clear
//do click button "Clear"
//is result === 'none'
return <A.Select allowClear aria-label="Fruit" style={{ width: 200 }} defaultValue="apple" options={options} onChange={v => done(v ?? 'none')} />

//== cascader
//do click combobox "Area"
//do click menuitemcheckbox "Fruit"
//do click menuitemcheckbox "Pear"
//is result === 'f,p'
return <A.Cascader aria-label="Area" options={tree} onChange={v => done(v.join())} />

//== tree-select
//do click combobox "Kind"
//do click treeitem "Pear"
//is result === 'p'
return <A.TreeSelect aria-label="Kind" style={{ width: 200 }} treeDefaultExpandAll treeData={tree} onChange={done} />

//== tree
//do click generic "Pear"
//is result === 'p'
return <A.Tree defaultExpandAll treeData={tree} onSelect={k => done(k.join())} />

//== tree-check
//do click checkbox "Pear"
//is result.includes('p')
return <A.Tree checkable defaultExpandAll treeData={tree} onCheck={k => done(k.join())} />

//== checkbox-group
//do click checkbox "Apple"
//do click checkbox "Cherry"
//is result === 'apple,cherry'
return <A.Checkbox.Group options={options} onChange={v => done(v.join())} />

//== radio-buttons
//do click radio "Cherry"
//is result === 'cherry'
return <A.Radio.Group options={options} optionType="button" onChange={e => done(e.target.value)} />

//== switch
//do click switch "Dark"
//is result === true
return <A.Switch aria-label="Dark" onChange={done} />

//== segmented
//do click radio "Banana"
//is result === 'banana'
return <A.Segmented options={options} onChange={done} />

//== slider
//do click slider
//do press ArrowRight 3
//is result === 53
return <A.Slider defaultValue={50} onChange={done} style={{ width: 200, margin: 50 }} />

//== rate
//do click radio "star" #3
//is result === 3
return <A.Rate onChange={done} />

//== input-number
//do type spinbutton "Count" = 42
//is result === 42
return <A.InputNumber aria-label="Count" onChange={done} />

//== input-number-step
//do click spinbutton "Count"
//do press ArrowUp 3
//is result === 8
return <A.InputNumber aria-label="Count" defaultValue={5} onChange={done} />

//== date
//do click textbox "Day"
//do click cell "15"
//is result.endsWith('-15')
return <A.DatePicker aria-label="Day" onChange={(d, s) => done(s)} />

//== collapse
//do click button "More"
//do click button "Inside"
//is result === 'in'
return <A.Collapse items={[{ key: 1, label: "More", children: <A.Button onClick={() => done('in')}>Inside</A.Button> }]} />

//== dropdown
//do hover button "Actions"
//do click menuitem "Copy"
//is result === 'copy'
return <A.Dropdown menu={{ items: [{ key: "cut", label: "Cut" }, { key: "copy", label: "Copy" }], onClick: e => done(e.key) }}><A.Button>Actions</A.Button></A.Dropdown>

//== menu
//do hover menuitem "File"
//do click menuitem "Open"
//is result === 'open'
return <A.Menu mode="horizontal" items={[{ key: "f", label: "File", children: [{ key: "new", label: "New" }, { key: "open", label: "Open" }] }]} onClick={e => done(e.key)} />

//== modal
//do click button "Delete"
//do click button "OK"
//is result === 'ok'
function App() { const [o, set] = useState(false); return <><A.Button onClick={() => set(true)}>Delete</A.Button><A.Modal title="Sure?" open={o} onOk={() => done('ok')}>It is gone then.</A.Modal></> }
return <App />

//== popconfirm
//do click button "Delete"
//do click button "Yes"
//is result === 'yes'
return <div style={{ padding: 100 }}><A.Popconfirm title="Sure?" okText="Yes" cancelText="No" onConfirm={() => done('yes')}><A.Button>Delete</A.Button></A.Popconfirm></div>

//== tabs
//do click tab "Second"
//is result === '2'
return <A.Tabs onChange={done} items={[{ key: "1", label: "First" }, { key: "2", label: "Second" }]} />

//== pagination
//do click * "3" in list "3"
//is result === 3
return <A.Pagination total={90} onChange={done} />

//== table-select
//do click checkbox in row "Bob"
//is result === 'Bob'
return <A.Table rowSelection={{ onChange: k => done(k.join()) }} rowKey="name" columns={[{ title: "Name", dataIndex: "name" }]} dataSource={["Ada", "Bob"].map(name => ({ name }))} />

//== table-sort
//do click columnheader "Age"
//is result === 'ascend'
return <A.Table rowKey="age" onChange={(p, f, s) => done(s.order)} columns={[{ title: "Age", dataIndex: "age", sorter: (a, b) => a.age - b.age }]} dataSource={[{ age: 2 }, { age: 1 }]} />

//== transfer
//do click checkbox in listitem "Banana"
//do click button "right"
//is result === 'banana'
return <A.Transfer dataSource={options.map(o => ({ key: o.value, title: o.label }))} render={i => i.title} onChange={k => done(k.join())} />

//== form
//do type textbox "User" = ada
//do type textbox "Password" = secret
//do click button "Log in"
//is result === 'ada/secret'
return <A.Form onFinish={v => done(v.u + '/' + v.p)}><A.Form.Item label="User" name="u"><A.Input /></A.Form.Item><A.Form.Item label="Password" name="p"><A.Input.Password /></A.Form.Item><A.Button htmlType="submit">Log in</A.Button></A.Form>

//== upload
//do upload button "Upload" = photo.txt
//is result === 'photo.txt'
return <A.Upload beforeUpload={f => { done(f.name); return false }}><A.Button>Upload</A.Button></A.Upload>

//== otp
//do click textbox "OTP Input 1"
//do press 1
//do press 2
//do press 3
//do press 4
//is result === '1234'
return <A.Input.OTP length={4} onChange={done} />

//== drawer
//do click button "Open"
//do type textbox "Note" = hi
//is result === 'hi'
function App() { const [o, set] = useState(false); return <><A.Button onClick={() => set(true)}>Open</A.Button><A.Drawer open={o} title="Side"><A.Input aria-label="Note" onChange={e => done(e.target.value)} /></A.Drawer></> }
return <App />

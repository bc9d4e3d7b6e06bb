export const request = {name: 'request', title: (id) => `Request ${id}`, open(view) { view.frame(null); view.ready() }}

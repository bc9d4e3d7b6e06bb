document.title = "pushfan";

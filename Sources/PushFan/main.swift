print("pushfan")

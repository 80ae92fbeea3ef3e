{-# LANGUAGE ForeignFunctionInterface #-}
-- | C sorts words of 8 bytes, and calls a function to compare two of them.
--
-- > CallBack haskell    the function is in Haskell
-- > CallBack c          the function is in C, too
module Main (main) where

import Foreign
import Foreign.C.Types (CInt (..), CSize (..))
import System.Environment (getArgs)

type Compare = Ptr Word64 -> Ptr Word64 -> IO CInt

foreign import ccall "wrapper" fromHaskell :: Compare -> IO (FunPtr Compare)
foreign import ccall "string.h &strcmp" fromC :: FunPtr Compare
foreign import ccall safe "stdlib.h qsort" qsort :: Ptr Word64 -> CSize -> CSize -> FunPtr Compare -> IO ()

main :: IO ()
main = do
  [how] <- getArgs
  function <- if how == "haskell" then fromHaskell byValue else pure fromC
  withArrayLen (take 500 (iterate next 1)) $ \count array -> do
    qsort array (fromIntegral count) 8 function
    peekArray count array >>= print . sum

byValue :: Compare
byValue one other = do
  order <- compare <$> peek one <*> peek other
  pure (fromIntegral (fromEnum order) - 1)

-- | Seven bytes that are not zero, and one that is.
next :: Word64 -> Word64
next word = (word * 6364136223846793005 + 1442695040888963407) .&. 0x007f7f7f7f7f7f7f .|. 0x0001010101010101
